package command

func init() {
	register("planCacheClear", command{run: planCacheClear, help: "Does nothing: a plan is made for each request, and none is kept.", needs: writeAction,
		fields: fieldSet("query projection sort comment collation")})
}

func planCacheClear(r *request, _ *answer) error {
	r.collection()
	return r.err
}
