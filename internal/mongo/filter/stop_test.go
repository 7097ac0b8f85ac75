package filter

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/work"
	"github.com/mayflydb/mayfly/internal/mongo/work/worktest"
)

// large are queries with every operator, for the document of worktest.
var large = map[string][]string{
	"$alwaysFalse": {`{"$alwaysFalse": 1}`}, "$alwaysTrue": {`{"$alwaysTrue": 1}`}, "$comment": nil, // asks nothing

	"$and": {`{"$and": [{"numbers": {"$gte": 0}}, {"words": "word"}]}`, many(`{"$and": [`, `{"$alwaysTrue": 1}`, `]}`),
		many(`{"$and": [`, `{}`, `]}`)},
	"$or":   {`{"$or": [{"numbers": -1}, {"words": "word"}]}`, many(`{"$or": [`, `{"$alwaysFalse": 1}`, `]}`)},
	"$nor":  {`{"$nor": [{"numbers": -1}, {"words": "word"}]}`, many(`{"$nor": [`, `{"$alwaysFalse": 1}`, `]}`)},
	"$expr": {`{"$expr": {"$in": [-1, "$numbers"]}}`}, "$sampleRate": nil, // whatever the document
	"$db": {`{"$db": "x"}`}, "$id": {`{"$id": "x"}`}, "$ref": {`{"$ref": "x"}`},
	"$jsonSchema": nil, // has a table of its own

	"$all": {`{"numbers": {"$all": [1, 2, -1]}}`, many(`{"numbers": {"$all": [`, `1`, `]}}`),
		many(`{"objects": {"$all": [`, `{"$elemMatch": {"v": -1}}`, `]}}`)},
	"$bitsAllClear": {many(`{"numbers": {"$bitsAllClear": [`, `70`, `]}}`)},
	"$bitsAllSet":   {many(`{"zeros": {"$bitsAllSet": [`, `70`, `]}}`)},
	"$bitsAnyClear": {many(`{"numbers": {"$bitsAnyClear": [`, `70`, `]}}`)},
	"$bitsAnySet":   {many(`{"zeros": {"$bitsAnySet": [`, `70`, `]}}`)},
	"$elemMatch": {`{"objects": {"$elemMatch": {"v": -1, "k": {"$gt": "z"}}}}`,
		`{"numbers": {"$elemMatch": {"$gt": 5, "$lt": 5}}}`,
		`{"pairs": {"$elemMatch": {"$elemMatch": {"$eq": 1}}}}`},
	"$eq":     {`{"numbers": -1}`, `{"words": "word"}`, `{"objects.v": -1}`, `{"objects": {"v": 1}}`},
	"$exists": {`{"objects.x": {"$exists": true}}`},
	"$gt":     {`{"numbers": {"$gt": 1000000}}`}, "$gte": {`{"words": {"$gte": "z"}}`},
	"$lt": {`{"objects.v": {"$lt": -5}}`}, "$lte": {`{"decimals": {"$lte": -1}}`},
	"$in": {`{"numbers": {"$in": [-1, -2, {"$regularExpression": {"pattern": "x", "options": ""}}]}}`,
		`{"words": {"$in": [{"$regularExpression": {"pattern": "(a+)+$", "options": ""}}, {"$regularExpression": ` +
			`{"pattern": "b.*c.*d", "options": "i"}}]}}`},
	"$nin": {`{"numbers": {"$nin": [-1, -2]}}`,
		`{"words": {"$nin": [{"$regularExpression": {"pattern": "z$", "options": ""}}]}}`},
	"$mod": {`{"numbers": {"$mod": [7, 9]}}`, `{"decimals": {"$mod": [7, 9]}}`},
	"$ne":  {`{"numbers": {"$ne": -1}}`},
	"$not": {`{"words": {"$not": {"$gt": "z"}}}`,
		`{"words": {"$not": {"$regularExpression": {"pattern": "z", "options": ""}}}}`},
	"$regex": {`{"text": {"$regex": "(a|b| )+z"}}`, `{"text": {"$regex": "[^z]{1,500}z"}}`,
		`{"text": {"$regex": "a(?=z)"}}`, `{"words": {"$regex": "(?<!x)q"}}`,
		`{"words": {"$regex": "z", "$options": "i"}}`},
	"$options": {`{"words": {"$regex": "^Z.*", "$options": "im"}}`},
	"$size":    {`{"numbers": {"$size": 5}}`},
	"$text":    nil, "$where": nil, "$geoIntersects": nil, "$geoNear": nil, "$geoWithin": nil, "$maxDistance": nil,
	"$meta":        nil,
	"$minDistance": nil, "$near": nil, "$nearSphere": nil, "$within": nil, // refused
	"$type": {`{"numbers": {"$type": ["string", "date"]}}`},
}

// largeSchemas are schemas with every keyword.
var largeSchemas = map[string][]string{
	"additionalItems":      {`{"properties": {"numbers": {"items": [{}], "additionalItems": {"minimum": 0}}}}`},
	"additionalProperties": {`{"properties": {"object": {"additionalProperties": {"minimum": 0}}}}`},
	"allOf": {`{"properties": {"numbers": {"items": {"allOf": [{"minimum": 0}, {"maximum": 100000}]}}}}`,
		`{"properties": {"words": {"items": ` + many(`{"allOf": [`, `{"minimum": 0}`, `]}`) + `}}}`},
	"anyOf": {`{"properties": {"words": {"items": ` + many(`{"anyOf": [`, `{"maxLength": 0}`, `]}`) +
		`}}}`},
	"oneOf": {`{"properties": {"words": {"items": ` + many(`{"oneOf": [`, `{"maxLength": 0}`, `]}`) +
		`}}}`},
	"bsonType": {`{"properties": {"numbers": {"items": {"bsonType": "int"}}}}`},
	"type":     {`{"properties": {"numbers": {"items": {"type": "number"}}}}`},
	"dependencies": {`{"properties": {"objects": {"items": {"dependencies": {"k": ["v"], "v": {"properties": {"k": ` +
		`{"type": "string"}}}}}}}}`},
	"description": nil, "title": nil,
	"enum": {`{"properties": {"numbers": {"items": {"enum": ` + upTo(100_000) +
		`}}, "object": {"enum": [{"a": 1}]}}}`, `{"properties": {"object": {"enum": [{"a": 1}]}}}`},
	"exclusiveMaximum": {`{"properties": {"numbers": {"items": {"maximum": 100001, "exclusiveMaximum": true}}}}`},
	"exclusiveMinimum": {`{"properties": {"numbers": {"items": {"minimum": -1, "exclusiveMinimum": true}}}}`},
	"maximum":          {`{"properties": {"decimals": {"items": {"maximum": {"$numberDecimal": "1E+6100"}}}}}`},
	"minimum":          {`{"properties": {"numbers": {"items": {"minimum": 0}}}}`},
	"items": {`{"properties": {"numbers": {"items": {"not": {"maximum": -1}}}}}`,
		`{"properties": {"pairs": {"items": {"items": [{"type": "string"}, {"minLength": 1}]}}}}`},
	"maxItems":      {`{"properties": {"numbers": {"maxItems": 1000000}}}`},
	"minItems":      {`{"properties": {"numbers": {"minItems": 1}}}`},
	"maxLength":     {`{"properties": {"text": {"maxLength": 10000000}}}`},
	"minLength":     {`{"properties": {"text": {"minLength": 1}}}`},
	"maxProperties": {`{"properties": {"object": {"maxProperties": 1000000}}}`},
	"minProperties": {`{"properties": {"object": {"minProperties": 1}}}`},
	"multipleOf": {`{"properties": {"decimals": {"items": {"multipleOf": {"$numberDecimal": "1E-6000"}}}}}`,
		`{"properties": {"numbers": {"items": {"multipleOf": 1}}}}`},
	"not":               {`{"properties": {"numbers": {"items": {"not": {"type": "string"}}}}}`},
	"pattern":           {`{"properties": {"words": {"items": {"pattern": "^word [0-9]+$"}}}}`},
	"patternProperties": {`{"properties": {"object": {"patternProperties": {"m[0-9]*(?<!x)$": {"minimum": 0}}}}}`},
	"properties": {`{"properties": {"objects": {"items": {"properties": {"v": {"minimum": 0}, "k": {"type": ` +
		`"string"}}}}}}`},
	"required": {`{"properties": {"objects": {"items": {"required": ["k", "v"]}}, "object": {"required": ` +
		`["last", "m49999"]}}}`},
	"uniqueItems": {`{"properties": {"numbers": {"uniqueItems": true}}}`,
		`{"properties": {"objects": {"uniqueItems": true}}}`},
}

// TestEveryOperatorStops matches each operator again and again with a document that is as large as can be, and has it
// stopped after a while.
func TestEveryOperatorStops(t *testing.T) {
	document, field := Operators()
	for _, name := range slices.Concat(document, field) {
		queries, known := large[name]
		if !known {
			t.Errorf("%s is not in the table of this test: add its largest arguments", name)
		}
		for _, q := range queries {
			stops(t, q)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(keywords)) {
		schemas, known := largeSchemas[name]
		if !known {
			t.Errorf("%s is not in the table of this test: add its largest schemas", name)
		}
		for _, s := range schemas {
			stops(t, `{"$jsonSchema": `+s+`}`)
		}
	}
}

func stops(t *testing.T, text string) {
	t.Helper()
	f, err := Compile(fromJSON(t, text), Options{})
	if err != nil {
		t.Errorf("%.150s: %v", text, err)
		return
	}
	d := worktest.Document()
	s := &expression.Scope{Random: func() float64 { return 0.5 }}
	worktest.Stops(t, text, func(m *work.Meter) error {
		s.Meter = m
		s.Reset(d)
		_, err := f.Match(d.Data, s)
		return err
	})
}

// TestPathWalkStops is TestEveryOperatorStops for paths, which other packages walk too.
func TestPathWalkStops(t *testing.T) {
	d := worktest.Document()
	p, err := ParsePath("objects.v")
	if err != nil {
		t.Fatal(err)
	}
	worktest.Stops(t, "walk", func(m *work.Meter) error {
		p.Walk(d.Data, Both, m, func(doc.Value, int) bool { return false })
		return m.Err()
	})
	// Each number is an index and a name, so there are 2^24 ways.
	v := doc.Int32(1)
	for range 24 {
		v = worktest.Array(1, func(int) doc.Value { return worktest.Object("0", v) })
	}
	ways := worktest.Object("a", v)
	if p, err = ParsePath("a" + strings.Repeat(".0", 24)); err != nil {
		t.Fatal(err)
	}
	worktest.Stops(t, "walk of many ways", func(m *work.Meter) error {
		p.Walk(ways.Data, Both, m, func(doc.Value, int) bool { return false })
		return m.Err()
	})
}

// TestCompilingStops compiles queries that are about as large as can be.
func TestCompilingStops(t *testing.T) {
	list := func(n int, element func(i int) doc.Value) doc.Value { return worktest.Array(n, element) }
	text := func(i int) doc.Value { return doc.String(fmt.Sprint("text ", i*7919%300_000)) }
	schema := func(name string, v doc.Value) doc.Value {
		return worktest.Object("$jsonSchema", worktest.Object(name, v))
	}
	for name, q := range map[string]doc.Value{
		"$in":  worktest.Object("a", worktest.Object("$in", list(300_000, text))),
		"$all": worktest.Object("a", worktest.Object("$all", list(90_000, text))),
		"conditions": worktest.Fields(90_000, func(i int) (string, doc.Value) {
			return fmt.Sprint("a.b", i), doc.Int32(1)
		}),
		"$options": worktest.Object("a", worktest.Fields(90_001, func(i int) (string, doc.Value) {
			if i == 90_000 {
				return "$regex", doc.String("x")
			}
			return "$options", doc.String("i")
		})),
		"required": schema("required", list(300_000, text)),
		"enum":     schema("enum", list(300_000, text)),
		"properties": schema("properties", worktest.Fields(90_000, func(i int) (string, doc.Value) {
			return fmt.Sprint("a", i), worktest.Object()
		})),
		"patterns": worktest.Object("a", worktest.Object("$in", list(900, func(i int) doc.Value {
			return doc.Value{Type: bsoncore.TypeRegex, Data: fmt.Appendf(nil, "(a{1,30}%d|x)*y\x00\x00", i)}
		}))),
	} {
		worktest.Stops(t, name, func(m *work.Meter) error {
			_, err := Compile(q.Data, Options{Meter: m})
			return err
		})
	}
}

// many is a text with an element again and again.
func many(begin, element, end string) string {
	return begin + strings.Repeat(element+", ", 20_000) + element + end
}

func upTo(n int) string {
	var list []string
	for i := range n {
		list = append(list, strconv.Itoa(i))
	}
	return "[" + strings.Join(list, ",") + "]"
}
