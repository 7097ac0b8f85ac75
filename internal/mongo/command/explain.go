package command

// explainAggregate answers with the plan of an aggregation.
func (r *request) explainAggregate(x *aggregation, a *answer) error { return nil }
