package admin

import "net/http"

func (a *admin) listOperations(*http.Request) (any, error) {
	return struct {
		Operations []OperationState `json:"operations"`
	}{append(a.indexBuilds(), a.operations.List()...)}, nil
}

func (a *admin) showOperation(r *http.Request) (any, error) {
	if s, ok, err := a.indexBuild(r.PathValue("id")); ok {
		return s, err
	}
	return a.operations.Get(r.PathValue("id"))
}

// endOperation answers 202 with an operation that is being cancelled, 204 if it had ended and is forgotten.
func (a *admin) endOperation(w http.ResponseWriter, r *http.Request) error {
	if s, ok, err := a.indexBuild(r.PathValue("id")); err != nil {
		return err
	} else if ok {
		return cancelBuild(s)
	}
	state, err := a.operations.Cancel(r.PathValue("id"))
	switch {
	case err != nil:
		return err
	case state.Ended != nil:
		w.WriteHeader(http.StatusNoContent)
	default:
		a.write(w, http.StatusAccepted, state)
	}
	return nil
}

// accept answers 202 with an operation that has begun, or with the error of its start.
func (a *admin) accept(w http.ResponseWriter, p *Operation, err error) error {
	if err != nil {
		return err
	}
	state, err := a.operations.Get(p.ID())
	if err != nil {
		return err
	}
	w.Header().Set("Location", Base+"/operations/"+state.ID)
	a.write(w, http.StatusAccepted, state)
	return nil
}
