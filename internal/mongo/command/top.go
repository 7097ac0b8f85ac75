package command

func top(r *request, a *answer) error {
	a.Object("totals")
	a.String("note", "all times in microseconds")
	r.s.monitor.Usage.Write(&a.Writer)
	a.Close()
	return nil
}
