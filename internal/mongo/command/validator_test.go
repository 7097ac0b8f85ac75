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
	if !errors.As(err, &e) || len(e.WriteErrors) != 1 ||
		e.WriteErrors[0].Code != 121 || e.WriteErrors[0].Message != "Document failed validation" {
		t.Fatalf("got %v, want 121", err)
	}
	var info bson.M
	must(t, bson.Unmarshal(e.WriteErrors[0].Details, &info))
	return info
}

func TestValidator(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("test")
	schema := document(t, `{$jsonSchema: {
		required: ['name', 'age'],
		properties: {name: {bsonType: 'string', description: 'who it is'}, age: {minimum: 0}}
	}}`)
	must(t, db.CreateCollection(t.Context(), "c", options.CreateCollection().SetValidator(schema)))
	c := db.Collection("c")
	_, err := c.InsertOne(t.Context(), document(t, `{_id: 1, name: 'Ann', age: 3}`))
	must(t, err)

	_, err = c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 2}, {Key: "name", Value: 5}})
	same(t, invalid(t, err), bson.M{"failingDocumentId": 2, "details": bson.M{
		"operatorName": "$jsonSchema",
		"schemaRulesNotSatisfied": bson.A{
			document(t, `{
				operatorName: 'required', specifiedAs: {required: ['name', 'age']}, missingProperties: ['age']
			}`),
			document(t, `{operatorName: 'properties', propertiesNotSatisfied: [{
				propertyName: 'name', description: 'who it is', details: [{
					operatorName: 'bsonType', specifiedAs: {bsonType: 'string'}, reason: 'type did not match',
					consideredValue: 5, consideredType: 'int'
				}]
			}]}`),
		},
	}})
	_, err = c.UpdateOne(t.Context(), eq("_id", 1), eq("$set", eq("age", -1)))
	invalid(t, err)
	bypass := options.UpdateOne().SetBypassDocumentValidation(true)
	_, err = c.UpdateOne(t.Context(), eq("_id", 1), eq("$set", eq("age", -1)), bypass)
	must(t, err)
	_, err = c.UpdateOne(t.Context(), eq("_id", 9), eq("$set", eq("age", 1)), options.UpdateOne().SetUpsert(true))
	invalid(t, err)
	err = c.FindOneAndReplace(t.Context(), bson.D{{Key: "_id", Value: 1}}, bson.D{{Key: "name", Value: "Bob"}}).Err()
	fails(t, err, 121, "Document failed validation")
	documents := []any{eq("_id", 3), pairs("_id", 4, "name", "x", "age", 1)}
	result, err := c.InsertMany(t.Context(), documents, options.InsertMany().SetOrdered(false))
	if err == nil || len(result.InsertedIDs) != 1 {
		t.Errorf("%v, %v", result, err)
	}

	t.Run("moderate", func(t *testing.T) {
		_, err := d.run(bson.D{{Key: "collMod", Value: "c"}, {Key: "validationLevel", Value: "moderate"}})
		must(t, err)
		_, err = c.UpdateOne(t.Context(), eq("_id", 1), eq("$set", eq("age", -2)))
		must(t, err)
		_, err = c.UpdateOne(t.Context(), eq("_id", 4), eq("$set", eq("age", -2)))
		invalid(t, err)
	})
	t.Run("warn", func(t *testing.T) {
		_, err := d.run(document(t, `{collMod: 'c', validationAction: 'warn', validationLevel: 'strict'}`))
		must(t, err)
		_, err = c.InsertOne(t.Context(), bson.D{{Key: "_id", Value: 20}})
		must(t, err)
	})
	t.Run("off", func(t *testing.T) {
		_, err := d.run(document(t, `{collMod: 'c', validationAction: 'error', validationLevel: 'off'}`))
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
		{"comparison", eq("n", eq("$gt", 5)), document(t, `{_id: 1, n: 3}`),
			document(t, `{
				operatorName: '$gt', specifiedAs: {n: {$gt: 5}}, reason: 'comparison failed', consideredValue: 3
			}`)},
		{"missing", bson.D{{Key: "n", Value: 1}}, bson.D{{Key: "_id", Value: 1}},
			document(t, `{operatorName: '$eq', specifiedAs: {n: 1}, reason: 'field was missing'}`)},
		{"several", document(t, `{n: {$gt: 1, $lt: 5}, m: {$exists: true}}`), document(t, `{_id: 1, n: 9}`),
			document(t, `{operatorName: '$and', clausesNotSatisfied: [
				{index: 1, details: {
					operatorName: '$lt', specifiedAs: {n: {$lt: 5}}, reason: 'comparison failed', consideredValue: 9
				}},
				{index: 2, details: {
					operatorName: '$exists', specifiedAs: {m: {$exists: true}}, reason: 'path does not exist'
				}}
			]}`)},
		{"expression", document(t, `{$expr: {$lt: ['$a', '$b']}}`), document(t, `{_id: 1, a: 2, b: 1}`),
			document(t, `{
				operatorName: '$expr', specifiedAs: {$expr: {$lt: ['$a', '$b']}},
				reason: 'expression did not match', expressionResult: false
			}`)},
		{"or", document(t, `{$or: [{a: 1}, {b: 1}]}`), document(t, `{_id: 1, a: 2, b: 3}`),
			document(t, `{operatorName: '$or', clausesNotSatisfied: [
				{index: 0, details: {
					operatorName: '$eq', specifiedAs: {a: 1}, reason: 'comparison failed', consideredValue: 2
				}},
				{index: 1, details: {
					operatorName: '$eq', specifiedAs: {b: 1}, reason: 'comparison failed', consideredValue: 3
				}}
			]}`)},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newServer(t, nil)
			db := d.Database("test")
			must(t, db.CreateCollection(t.Context(), "c", options.CreateCollection().SetValidator(c.rules)))
			_, err := db.Collection("c").InsertOne(t.Context(), c.document)
			same(t, invalid(t, err)["details"], c.details)
		})
	}
}

func TestValidatorOfPipelines(t *testing.T) {
	d := newServer(t, nil)
	db := d.Database("test")
	small := options.CreateCollection().SetValidator(eq("n", eq("$lt", 5)))
	must(t, db.CreateCollection(t.Context(), "c", small))
	_, err := db.Collection("from").InsertMany(t.Context(), []any{pairs("_id", 1, "n", 1), pairs("_id", 2, "n", 9)})
	must(t, err)
	for _, stage := range []bson.D{{{Key: "$out", Value: "c"}}, {{Key: "$merge", Value: "c"}}} {
		_, err := db.Collection("from").Aggregate(t.Context(), bson.A{stage})
		fails(t, err, 121, "Document failed validation")
		bypass := options.Aggregate().SetBypassDocumentValidation(true)
		_, err = db.Collection("from").Aggregate(t.Context(), bson.A{stage}, bypass)
		must(t, err)
		same(t, count(t, db.Collection("c"), bson.D{}), 2)
		_, err = db.Collection("c").DeleteMany(t.Context(), bson.D{})
		must(t, err)
	}
}
