package command_test

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// invalid asks that a write was refused by the rules of its container, and gives the details.
func invalid(t testing.TB, err error) bson.M {
	t.Helper()
	var e mongo.WriteException
	if !errors.As(err, &e) || len(e.WriteErrors) != 1 || e.WriteErrors[0].Code != 121 || e.WriteErrors[0].Message != "Document failed validation" {
		t.Fatalf("got %v, want 121", err)
	}
	var info bson.M
	must(t, bson.Unmarshal(e.WriteErrors[0].Details, &info))
	return info
}

func TestValidator(t *testing.T) {
	d := newDoor(t, nil)
	db := d.Database("test")
	schema := bson.D{{Key: "$jsonSchema", Value: bson.D{
		{Key: "required", Value: bson.A{"name", "age"}},
		{Key: "properties", Value: bson.D{{Key: "name", Value: bson.D{{Key: "bsonType", Value: "string"}, {Key: "description", Value: "who it is"}}}, {Key: "age", Value: bson.D{{Key: "minimum", Value: 0}}}}},
	}}}
	must(t, db.CreateCollection(t.Context(), "c", options.CreateCollection().SetValidator(schema)))
	c := db.Collection("c")
	_, err := c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}, {Key: "name", Value: "Ann"}, {Key: "age", Value: 3}})
	must(t, err)

	_, err = c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 2}, {Key: "name", Value: 5}})
	same(t, invalid(t, err), bson.M{"failingDocumentId": 2, "details": bson.M{
		"operatorName": "$jsonSchema",
		"schemaRulesNotSatisfied": bson.A{
			bson.D{{Key: "operatorName", Value: "required"}, {Key: "specifiedAs", Value: bson.D{{Key: "required", Value: bson.A{"name", "age"}}}}, {Key: "missingProperties", Value: bson.A{"age"}}},
			bson.D{{Key: "operatorName", Value: "properties"}, {Key: "propertiesNotSatisfied", Value: bson.A{bson.D{
				{Key: "propertyName", Value: "name"}, {Key: "description", Value: "who it is"}, {Key: "details", Value: bson.A{bson.D{
					{Key: "operatorName", Value: "bsonType"}, {Key: "specifiedAs", Value: bson.D{{Key: "bsonType", Value: "string"}}}, {Key: "reason", Value: "type did not match"},
					{Key: "consideredValue", Value: 5}, {Key: "consideredType", Value: "int"},
				}}},
			}}}},
		},
	}})
	_, err = c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "age", Value: -1}}}})
	invalid(t, err)
	_, err = c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "age", Value: -1}}}}, options.UpdateOne().SetBypassDocumentValidation(true))
	must(t, err)
	_, err = c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 9}}, bson.D{{Key: "$set", Value: bson.D{{Key: "age", Value: 1}}}}, options.UpdateOne().SetUpsert(true))
	invalid(t, err)
	err = c.FindOneAndReplace(t.Context(), bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "name", Value: "Bob"}}).Err()
	fails(t, err, 121, "Document failed validation")
	result, err := c.InsertMany(t.Context(), []any{bson.D{{Key: "_id", Value: 3}}, bson.D{{Key: "_id", Value: 4}, {Key: "name", Value: "x"}, {Key: "age", Value: 1}}}, options.InsertMany().SetOrdered(false))
	if err == nil || len(result.InsertedIDs) != 1 {
		t.Errorf("%v, %v", result, err)
	}

	t.Run("moderate", func(t *testing.T) {
		_, err := d.run(bson.D{{Key: "collMod", Value: "c"}, {Key: "validationLevel", Value: "moderate"}})
		must(t, err)
		_, err = c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "$set", Value: bson.D{{Key: "age", Value: -2}}}})
		must(t, err)
		_, err = c.UpdateOne(t.Context(), bson.D{{Key: "_id", Value: 4}}, bson.D{{Key: "$set", Value: bson.D{{Key: "age", Value: -2}}}})
		invalid(t, err)
	})
	t.Run("warn", func(t *testing.T) {
		_, err := d.run(bson.D{{Key: "collMod", Value: "c"}, {Key: "validationAction", Value: "warn"}, {Key: "validationLevel", Value: "strict"}})
		must(t, err)
		_, err = c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 20}})
		must(t, err)
	})
	t.Run("off", func(t *testing.T) {
		_, err := d.run(bson.D{{Key: "collMod", Value: "c"}, {Key: "validationAction", Value: "error"}, {Key: "validationLevel", Value: "off"}})
		must(t, err)
		_, err = c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 21}})
		must(t, err)
	})
}

func TestValidatorOfOperators(t *testing.T) {
	for _, c := range []struct {
		name            string
		rules, document bson.D
		details         bson.D
	}{
		{"comparison", bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 5}}}}, bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 3}},
			bson.D{{Key: "operatorName", Value: "$gt"}, {Key: "specifiedAs", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 5}}}}}, {Key: "reason", Value: "comparison failed"}, {Key: "consideredValue", Value: 3}}},
		{"missing", bson.D{{Key: "n", Value: 1}}, bson.D{{Key: "_id", Value: 1}},
			bson.D{{Key: "operatorName", Value: "$eq"}, {Key: "specifiedAs", Value: bson.D{{Key: "n", Value: 1}}}, {Key: "reason", Value: "field was missing"}}},
		{"several", bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 1}, {Key: "$lt", Value: 5}}}, {Key: "m", Value: bson.D{{Key: "$exists", Value: true}}}}, bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 9}},
			bson.D{{Key: "operatorName", Value: "$and"}, {Key: "clausesNotSatisfied", Value: bson.A{
				bson.D{{Key: "index", Value: 1}, {Key: "details", Value: bson.D{{Key: "operatorName", Value: "$lt"}, {Key: "specifiedAs", Value: bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: 5}}}}}, {Key: "reason", Value: "comparison failed"}, {Key: "consideredValue", Value: 9}}}},
				bson.D{{Key: "index", Value: 2}, {Key: "details", Value: bson.D{{Key: "operatorName", Value: "$exists"}, {Key: "specifiedAs", Value: bson.D{{Key: "m", Value: bson.D{{Key: "$exists", Value: true}}}}}, {Key: "reason", Value: "path does not exist"}}}},
			}}}},
		{"expression", bson.D{{Key: "$expr", Value: bson.D{{Key: "$lt", Value: bson.A{"$a", "$b"}}}}}, bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: 2}, {Key: "b", Value: 1}},
			bson.D{{Key: "operatorName", Value: "$expr"}, {Key: "specifiedAs", Value: bson.D{{Key: "$expr", Value: bson.D{{Key: "$lt", Value: bson.A{"$a", "$b"}}}}}}, {Key: "reason", Value: "expression did not match"}, {Key: "expressionResult", Value: false}}},
		{"or", bson.D{{Key: "$or", Value: bson.A{bson.D{{Key: "a", Value: 1}}, bson.D{{Key: "b", Value: 1}}}}}, bson.D{{Key: "_id", Value: 1}, {Key: "a", Value: 2}, {Key: "b", Value: 3}},
			bson.D{{Key: "operatorName", Value: "$or"}, {Key: "clausesNotSatisfied", Value: bson.A{
				bson.D{{Key: "index", Value: 0}, {Key: "details", Value: bson.D{{Key: "operatorName", Value: "$eq"}, {Key: "specifiedAs", Value: bson.D{{Key: "a", Value: 1}}}, {Key: "reason", Value: "comparison failed"}, {Key: "consideredValue", Value: 2}}}},
				bson.D{{Key: "index", Value: 1}, {Key: "details", Value: bson.D{{Key: "operatorName", Value: "$eq"}, {Key: "specifiedAs", Value: bson.D{{Key: "b", Value: 1}}}, {Key: "reason", Value: "comparison failed"}, {Key: "consideredValue", Value: 3}}}},
			}}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDoor(t, nil)
			db := d.Database("test")
			must(t, db.CreateCollection(t.Context(), "c", options.CreateCollection().SetValidator(c.rules)))
			_, err := db.Collection("c").InsertOne(t.Context(), c.document)
			same(t, invalid(t, err)["details"], c.details)
		})
	}
}

func TestValidatorOfPipelines(t *testing.T) {
	d := newDoor(t, nil)
	db := d.Database("test")
	must(t, db.CreateCollection(t.Context(), "c", options.CreateCollection().SetValidator(bson.D{{Key: "n", Value: bson.D{{Key: "$lt", Value: 5}}}})))
	_, err := db.Collection("from").InsertMany(t.Context(), []any{bson.D{{Key: "_id", Value: 1}, {Key: "n", Value: 1}}, bson.D{{Key: "_id", Value: 2}, {Key: "n", Value: 9}}})
	must(t, err)
	for _, stage := range []bson.D{{{Key: "$out", Value: "c"}}, {{Key: "$merge", Value: "c"}}} {
		_, err := db.Collection("from").Aggregate(t.Context(), bson.A{stage})
		fails(t, err, 121, "Document failed validation")
		_, err = db.Collection("from").Aggregate(t.Context(), bson.A{stage}, options.Aggregate().SetBypassDocumentValidation(true))
		must(t, err)
		same(t, count(t, db.Collection("c"), bson.D{}), 2)
		_, err = db.Collection("c").DeleteMany(t.Context(), bson.D{})
		must(t, err)
	}
}
