package admin

import "net/http"

func (a *admin) showReclaim(r *http.Request) (any, error) { return a.Reaper.Stats(r.Context()) }

// reclaimNow answers when the space of every expired document is free.
func (a *admin) reclaimNow(r *http.Request) (any, error) {
	if err := a.Reaper.ReclaimNow(r.Context()); err != nil {
		return nil, err
	}
	return a.Reaper.Stats(r.Context())
}

func (a *admin) pauseReclaim(r *http.Request) (any, error) {
	if err := a.Reaper.Pause(r.Context()); err != nil {
		return nil, err
	}
	return a.Reaper.Stats(r.Context())
}

func (a *admin) resumeReclaim(r *http.Request) (any, error) {
	if err := a.Reaper.Resume(r.Context()); err != nil {
		return nil, err
	}
	return a.Reaper.Stats(r.Context())
}
