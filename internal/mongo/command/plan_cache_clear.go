package command

func planCacheClear(r *request, _ *answer) error {
	r.Collection()
	return r.Err
}
