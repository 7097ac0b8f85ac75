package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
)

// parseSortByCount parses $sortByCount to the $group and the $sort that it stands for.
// https://www.mongodb.com/docs/v7.0/reference/operator/aggregation/sortByCount/
func parseSortByCount(c *compiler, arg doc.Value) (stage, error) {
	switch arg.Type {
	case bsoncore.TypeEmbeddedDocument:
		if !isExpression(arg) {
			return nil, code.New(40147,
				"the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	case bsoncore.TypeString:
		if path, _ := doc.AsString(arg); !strings.HasPrefix(path, "$") {
			return nil, code.New(40148,
				"the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	default:
		return nil, code.New(40149, "the sortByCount field must be specified as a string or as an object")
	}
	x, err := expression.Compile(arg, c.names)
	if err != nil {
		return nil, err
	}
	counts := &sortStage{sort: &Sort{parts: []sortPart{{path: path{"count"}, descending: true}}}}
	count := []*statement{counted("count")}
	return series{&group{stage: "$sortByCount", key: x.Evaluate, path: x.FieldPath(), fields: count}, counts}, nil
}

// counted is name: {$sum: 1}.
func counted(name string) *statement {
	one, _ := expression.Compile(doc.Int32(1), nil)
	return &statement{name: name, operator: "$sum", argument: one, create: func(int) accumulator { return &sum{} }}
}
