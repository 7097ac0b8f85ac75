package filter

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// FuzzFilter compiles any query and asks it of any document: nothing panics, every error
// has a code, and a query and its $nor never agree.
func FuzzFilter(f *testing.F) {
	for _, seed := range [][2]string{
		{`{"a":1}`, `{"a":1}`},
		{`{"a":{"$gt":1,"$lt":{"$numberDecimal":"5"}}}`, `{"a":[1,2.5]}`},
		{`{"a.0.b":{"$in":[null,"x",{"$regularExpression":{"pattern":"^x","options":"i"}}]}}`, `{"a":[{"b":null}]}`},
		{`{"$or":[{"a":{"$elemMatch":{"b":{"$size":2}}}},{"$nor":[{"c":{"$type":"number"}}]}]}`,
			`{"a":[{"b":[1,2]}],"c":"x"}`},
		{`{"a":{"$regex":"(?=a)a$","$options":"s"}}`, `{"a":"xa\n"}`},
		{`{"a":{"$mod":[3,1]},"b":{"$bitsAllSet":[1,70]}}`,
			`{"a":4.5,"b":{"$binary":{"base64":"AQ==","subType":"00"}}}`},
		{`{"$jsonSchema":{"required":["a"],"properties":{"a":{"bsonType":"array","items":{"enum":[1,{"b":1}]},"uniqueItems":true}},"patternProperties":{"^x":{"multipleOf":0.1}}}}`, `{"a":[1,{"b":1}],"x":0.3}`},
		{`{"a":{"$all":[{"$elemMatch":{"$gt":1}}]},"b":{"$not":{"$exists":false}}}`, `{"a":[2],"b":1}`},
		{`{"$expr":{"$gt":["$a","$b"]}}`, `{"a":2,"b":1}`},
	} {
		f.Add([]byte(fromJSON(f, seed[0])), []byte(fromJSON(f, seed[1])))
	}
	f.Fuzz(func(t *testing.T, query, document []byte) {
		if len(query) > 1<<12 || len(document) > 1<<12 || bson.Raw(query).Validate() != nil ||
			bson.Raw(document).Validate() != nil {
			return
		}
		d := doc.Doc(document)
		q, err := Compile(query, Options{})
		hasCode(t, err)
		if err != nil {
			return
		}
		treeText(q.Tree(), "")
		ok, err := q.Match(d, scopeOf(d))
		hasCode(t, err)
		located, _, _ := q.Locate(d, scopeOf(d))
		if located != ok {
			t.Error("Match and Locate do not agree")
		}
		agreeNot(t, query, d, ok && err == nil, err)
	})
}

func hasCode(t *testing.T, err error) {
	if err != nil && code.Of(err) == nil {
		t.Errorf("no code: %v", err)
	}
}

// agreeNot asks {$nor: [query]}.
func agreeNot(t *testing.T, query, d doc.Doc, ok bool, failed error) {
	list := doc.With(nil, "0", doc.Object(query))
	nor, err := Compile(doc.With(nil, "$nor", doc.Array(list)), Options{})
	if err != nil || failed != nil {
		return // one level too deep
	}
	if not, err := nor.Match(d, scopeOf(d)); err == nil && not == ok {
		t.Errorf("both are %v", ok)
	}
}
