package admin

import "net/http"

func (a *admin) listSnapshots(w http.ResponseWriter, r *http.Request) error {
	if a.Snapshots == nil {
		return missing("snapshots")
	}
	result, err := a.Snapshots.List(r.Context())
	return a.reply(w, result, err)
}

// saveSnapshot takes {"name": "start"}.
func (a *admin) saveSnapshot(w http.ResponseWriter, r *http.Request) error {
	if a.Snapshots == nil {
		return missing("snapshots")
	}
	body, err := read[struct{ Name string }](r, `{"name": "start"}`)
	if err != nil {
		return err
	}
	result, err := a.Snapshots.Save(r.Context(), body.Name)
	if err != nil {
		return err
	}
	a.write(w, http.StatusCreated, result)
	return nil
}

func (a *admin) loadSnapshot(w http.ResponseWriter, r *http.Request) error {
	if a.Snapshots == nil {
		return missing("snapshots")
	}
	result, err := a.Snapshots.Load(r.Context(), r.PathValue("name"))
	return a.reply(w, result, err)
}

func (a *admin) deleteSnapshot(w http.ResponseWriter, r *http.Request) error {
	if a.Snapshots == nil {
		return missing("snapshots")
	}
	err := a.Snapshots.Delete(r.Context(), r.PathValue("name"))
	if err == nil {
		w.WriteHeader(http.StatusNoContent)
	}
	return err
}
