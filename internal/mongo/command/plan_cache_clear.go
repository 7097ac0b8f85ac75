package command

func planCacheClear(r *request, _ *answer) error {
	r.collection()
	return r.err
}
