package command

import "github.com/mayflydb/mayfly/internal/mongo/query"

func explainAggregate(r *request, x *query.Explanation) error {
	over, err := readAggregation(r)
	if err != nil {
		return err
	}
	return x.Aggregate(&r.Operation, over)
}

// explainInAggregate answers with the plan of an aggregation.
func explainInAggregate(r *request, x *query.Aggregation, a *answer) error {
	e := &query.Explanation{To: &a.Writer}
	if err := e.Aggregate(&r.Operation, x); err != nil {
		return err
	}
	return writeExplainEnd(r, e)
}
