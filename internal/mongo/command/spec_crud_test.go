package command_test

import (
	"errors"
	"regexp"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/mayflydb/mayfly/internal/doc"
)

// A crudCase runs commands against the collection test.c. Documents are written as JSON with bare names
// and single quotes.
type crudCase struct {
	name  string
	given string // documents in the collection, separated by space
	run   string // commands, one a line
	want  string // what the answer to the last one must have: objects in it may have more
	left  string // the documents afterwards, by _id; empty is not looked at, none is "-"
}

var oneSpace = regexp.MustCompile(`\s+`)

// answerTo runs a command and gives the document that was answered, whatever it says.
func answerTo(t testing.TB, db *mongo.Database, cmd any) bson.Raw {
	t.Helper()
	raw, err := db.RunCommand(t.Context(), cmd).Raw()
	var refused mongo.CommandError
	var write mongo.WriteException
	switch {
	case errors.As(err, &refused):
		return refused.Raw
	case errors.As(err, &write):
		return write.Raw
	}
	must(t, err)
	return raw
}

// value is a document as a value.
func value(d bson.Raw) doc.Value { return doc.Object(doc.Doc(d)) }

// differs says where an answer has not what is wanted, "" if it has all.
func differs(at string, got, want doc.Value) string {
	w, ok := doc.AsDoc(want)
	if ok && doc.Lookup(w, "$$any").Type != 0 {
		if got.Type == 0 {
			return at + " is missing"
		}
		return ""
	}
	if ok && doc.Lookup(w, "$$has").Type != 0 {
		s, _ := doc.AsString(got)
		if part, _ := doc.AsString(doc.Lookup(w, "$$has")); !strings.Contains(s, part) {
			return at + " is " + bson.RawValue{Type: bson.Type(got.Type), Value: got.Data}.String()
		}
		return ""
	}
	if ok && doc.Lookup(w, "$$no").Type != 0 {
		if got.Type != 0 {
			return at + " is there"
		}
		return ""
	}
	switch g, isDoc := doc.AsDoc(got); {
	case ok && isDoc:
		for name, v := range doc.Members(w) {
			if text := differs(at+"."+name, doc.Lookup(g, name), v); text != "" {
				return text
			}
		}
		return ""
	case got.Type == want.Type && string(want.Data) != "" && got.Type == 4:
		var list []doc.Value
		for v := range doc.Elements(got) {
			list = append(list, v)
		}
		i := 0
		for v := range doc.Elements(want) {
			if i >= len(list) {
				return at + " is too short"
			}
			if text := differs(at+"[]", list[i], v); text != "" {
				return text
			}
			i++
		}
		if i != len(list) {
			return at + " is too long"
		}
		return ""
	}
	if got.Type == 0 || doc.CompareBSON(got, want) != 0 {
		return at + " is " + bson.RawValue{Type: bson.Type(got.Type), Value: got.Data}.String()
	}
	return ""
}

// runCRUD runs cases, each against an empty collection.
func runCRUD(t *testing.T, cases []crudCase) {
	d := newServer(t, nil)
	for _, x := range cases {
		t.Run(x.name, func(t *testing.T) {
			db := d.Database("test")
			must(t, db.Drop(t.Context()))
			if x.given != "" {
				for _, given := range parsedAll(t, x.given) {
					_, err := db.Collection("c").InsertOne(t.Context(), given)
					must(t, err)
				}
			}
			var got bson.Raw
			for line := range strings.SplitSeq(strings.TrimSpace(x.run), "\n") {
				got = answerTo(t, db, parsed(t, line))
			}
			if text := differs("", value(got), value(parsed(t, x.want))); text != "" {
				t.Errorf("%s\n of %s", text, got)
			}
			if x.left != "" {
				checkLeft(t, db, x.left)
			}
		})
	}
}

func checkLeft(t *testing.T, db *mongo.Database, left string) {
	t.Helper()
	var want []bson.Raw
	if left != "-" {
		want = parsedAll(t, left)
	}
	var got []bson.Raw
	cursor, err := db.Collection("c").Find(t.Context(), bson.D{}, nil)
	must(t, err)
	must(t, cursor.All(t.Context(), &got))
	show := func(list []bson.Raw) string {
		var b strings.Builder
		for _, d := range list {
			b.WriteString(oneSpace.ReplaceAllString(d.String(), "") + "\n")
		}
		return b.String()
	}
	if show(got) != show(want) {
		t.Errorf("left are\n%swant\n%s", show(got), show(want))
	}
}

// The cases restate the unified tests of the CRUD specification, and what users of MongoDB rely on.
// https://github.com/mongodb/specifications/tree/master/source/crud/tests/unified
func TestSpecInsert(t *testing.T) {
	t.Parallel()
	runCRUD(t, []crudCase{
		{"one", "", `{insert: 'c', documents: [{_id: 1, x: 11}]}`, `{ok: 1, n: 1, writeErrors: {$$no: 1}}`,
			`{_id: 1, x: 11}`},
		{"ordered stops at the first error", "", `{insert: 'c', documents: [{_id: 1}, {_id: 1}, {_id: 2}]}`,
			`{ok: 1, n: 1, writeErrors: [{index: 1, code: 11000, keyPattern: {_id: 1}, keyValue: {_id: 1}, errmsg: {$$has: 'E11000 duplicate key error collection: test.c index: _id_ dup key: {'}}]}`, `{_id: 1}`},
		{"unordered goes on after errors", "{_id: 2}", `{insert: 'c', ordered: false, documents: [{_id: 1}, {_id: 1}, {_id: 2}, {_id: 3}, {_id: 3}, {_id: 4}]}`,
			`{ok: 1, n: 3, writeErrors: [{index: 1, code: 11000}, {index: 2, code: 11000}, {index: 4, code: 11000, keyValue: {_id: 3}}]}`, ``},
		{"nothing", "", `{insert: 'c', documents: []}`, `{ok: 0, code: 16, codeName: 'InvalidLength'}`, ``},
		{"array as _id", "", `{insert: 'c', documents: [{_id: [1]}]}`,
			`{ok: 1, n: 0, writeErrors: [{index: 0, code: 53}]}`, `-`},
		{"regex as _id", "", `{insert: 'c', documents: [{_id: {$regularExpression: {pattern: 'a', options: ''}}}]}`, `{n: 0, writeErrors: [{code: 53}]}`, `-`},
		{"undefined as _id", "", `{insert: 'c', documents: [{_id: {$undefined: true}}]}`,
			`{n: 0, writeErrors: [{code: 53}]}`, `-`},
		{"a refused document in the middle", "", `{insert: 'c', documents: [{_id: 1}, {_id: [1]}, {_id: 2}], ordered: false}`, `{n: 2, writeErrors: [{index: 1, code: 53}]}`, `{_id: 1}, {_id: 2}`},
		{"null and documents as _id", "", `{insert: 'c', documents: [{_id: null}, {_id: {a: 1, b: 2}}, {_id: {b: 2, a: 1}}, {_id: {a: 1, b: 2.0}}], ordered: false}`,
			`{n: 3, writeErrors: [{index: 3, code: 11000}]}`, ``},
		{"dollar in an _id document", "", `{insert: 'c', documents: [{_id: {$a: 1}}]}`,
			`{n: 0, writeErrors: [{code: 52}]}`, `-`},
		{"numbers are equal across types", "", `{insert: 'c', documents: [{_id: 1}, {_id: 1.0}, {_id: {$numberLong: '1'}}, {_id: {$numberDecimal: '1.00'}}], ordered: false}`,
			`{n: 1, writeErrors: [{index: 1, code: 11000}, {index: 2, code: 11000}, {index: 3, code: 11000}]}`, `{_id: 1}`},
		{"_id comes first", "", `{insert: 'c', documents: [{x: 1, _id: 1}]}`, `{n: 1}`, `{_id: 1, x: 1}`},
		{"dollars and dots in names", "", `{insert: 'c', documents: [{_id: 1, 'a.b': 1, $x: 2, c: {$y: 3}}]}`, `{n: 1}`, `{_id: 1, 'a.b': 1, $x: 2, c: {$y: 3}}`},
		{"unknown member", "", `{insert: 'c', documents: [{_id: 1}], what: 1}`,
			`{ok: 0, code: 40415, codeName: 'Location40415'}`, `-`},
		{"no documents", "", `{insert: 'c'}`, `{ok: 0, code: 40414}`, ``},
		{"documents that are none", "", `{insert: 'c', documents: [1]}`, `{ok: 0, code: 14}`, ``},
		{"comment", "", `{insert: 'c', documents: [{_id: 1}], comment: {a: 1}}`, `{ok: 1, n: 1}`, `{_id: 1}`},
		{"write concern", "", `{insert: 'c', documents: [{_id: 1}], writeConcern: {w: 1}}`, `{ok: 1, n: 1}`, ``},
		{"a view", "{_id: 1}", "{create: 'v', viewOn: 'c'}\n{insert: 'v', documents: [{_id: 2}]}", `{n: 0, writeErrors: [{index: 0, code: 166}]}`, `{_id: 1}`},
		{"unique index", "{_id: 1, a: 1}", "{createIndexes: 'c', indexes: [{name: 'u', key: {a: 1, b: -1}, unique: true}]}\n{insert: 'c', documents: [{_id: 2, a: 1}]}",
			`{n: 0, writeErrors: [{index: 0, code: 11000, keyPattern: {a: 1, b: -1}, keyValue: {a: 1, b: null}, errmsg: {$$has: 'E11000 duplicate key error collection: test.c index: u dup key: {'}}]}`, ``},
	})
}

func TestSpecUpdate(t *testing.T) {
	t.Parallel()
	three := `{_id: 1, x: 11}, {_id: 2, x: 22}, {_id: 3, x: 33}`
	runCRUD(t, []crudCase{
		{"one of many", three, `{update: 'c', updates: [{q: {_id: {$gt: 1}}, u: {$inc: {x: 1}}}]}`, `{ok: 1, n: 1, nModified: 1, upserted: {$$no: 1}}`, `{_id: 1, x: 11}, {_id: 2, x: 23}, {_id: 3, x: 33}`},
		{"many", three, `{update: 'c', updates: [{q: {_id: {$gt: 1}}, u: {$inc: {x: 1}}, multi: true}]}`, `{n: 2, nModified: 2}`, `{_id: 1, x: 11}, {_id: 2, x: 23}, {_id: 3, x: 34}`},
		{"nothing changes", three, `{update: 'c', updates: [{q: {_id: 1}, u: {$set: {x: 11}}}]}`, `{n: 1, nModified: 0}`, three},
		{"none matches", three, `{update: 'c', updates: [{q: {_id: 9}, u: {$set: {x: 1}}}]}`, `{n: 0, nModified: 0}`, three},
		{"upsert", three, `{update: 'c', updates: [{q: {_id: 4}, u: {$inc: {x: 1}}, upsert: true}]}`, `{n: 1, nModified: 0, upserted: [{index: 0, _id: 4}]}`, three + `, {_id: 4, x: 1}`},
		{"upserts among updates", three, `{update: 'c', updates: [{q: {_id: 1}, u: {$inc: {x: 1}}}, {q: {_id: 8}, u: {x: 1}, upsert: true}, {q: {a: 5, _id: 9}, u: {$setOnInsert: {x: 1}}, upsert: true}]}`,
			`{n: 3, nModified: 1, upserted: [{index: 1, _id: 8}, {index: 2, _id: 9}]}`, `{_id: 1, x: 12}, {_id: 2, x: 22}, {_id: 3, x: 33}, {_id: 8, x: 1}, {_id: 9, a: 5, x: 1}`},
		{"upsert of a known _id that does not match", three, `{update: 'c', updates: [{q: {_id: 1, x: 5}, u: {$set: {y: 1}}, upsert: true}]}`, `{n: 0, writeErrors: [{index: 0, code: 11000, keyValue: {_id: 1}}]}`, three},
		{"upsert into nothing makes the collection", "", `{update: 'c', updates: [{q: {_id: 1}, u: {x: 1}, upsert: true}]}`, `{n: 1, upserted: [{index: 0, _id: 1}]}`, `{_id: 1, x: 1}`},
		{"replace", three, `{update: 'c', updates: [{q: {_id: 1}, u: {y: 1}}]}`, `{n: 1, nModified: 1}`,
			`{_id: 1, y: 1}, {_id: 2, x: 22}, {_id: 3, x: 33}`},
		{"replace by the same", three, `{update: 'c', updates: [{q: {_id: 1}, u: {x: 11}}]}`,
			`{n: 1, nModified: 0}`, three},
		{"replace with another _id", three, `{update: 'c', updates: [{q: {x: 11}, u: {_id: 7, y: 1}}]}`,
			`{n: 0, writeErrors: [{code: 66, errmsg: {$$has: '_id'}}]}`, three},
		{"replace many", three, `{update: 'c', updates: [{q: {}, u: {y: 1}, multi: true}]}`, `{writeErrors: [{code: 9, errmsg: 'multi update is not supported for replacement-style update'}]}`, three},
		{"set _id", three, `{update: 'c', updates: [{q: {x: 11}, u: {$set: {_id: 7}}}]}`, `{writeErrors: [{code: 66, errmsg: {$$has: 'Performing an update on the path '}}]}`, three},
		{"set _id to itself", three, `{update: 'c', updates: [{q: {x: 11}, u: {$set: {_id: 1}}}]}`, `{n: 1, nModified: 0}`, three},
		{"unknown operator", three, `{update: 'c', updates: [{q: {_id: 1}, u: {$what: {x: 1}}}]}`, `{writeErrors: [{code: 9, errmsg: {$$has: 'Unknown modifier: $what'}}]}`, three},
		{"array filters", `{_id: 1, y: [{b: 3}, {b: 1}]}`, `{update: 'c', updates: [{q: {}, u: {$set: {'y.$[i].b': 2}}, arrayFilters: [{'i.b': 3}]}]}`, `{n: 1, nModified: 1}`, `{_id: 1, y: [{b: 2}, {b: 1}]}`},
		{"array filter that is not used", `{_id: 1, y: [1]}`, `{update: 'c', updates: [{q: {}, u: {$set: {x: 2}}, arrayFilters: [{'i.b': 3}]}]}`, `{writeErrors: [{code: 9}]}`, ``},
		{"array filter that is missing", `{_id: 1, y: [1]}`, `{update: 'c', updates: [{q: {}, u: {$set: {'y.$[i]': 2}}}]}`, `{writeErrors: [{code: 2}]}`, ``},
		{"positional", `{_id: 1, y: [1, 2, 3]}`, `{update: 'c', updates: [{q: {y: 2}, u: {$set: {'y.$': 9}}}]}`, `{n: 1, nModified: 1}`, `{_id: 1, y: [1, 9, 3]}`},
		{"positional without an array", `{_id: 1, y: [1, 2, 3]}`, `{update: 'c', updates: [{q: {_id: 1}, u: {$set: {'y.$': 9}}}]}`, `{writeErrors: [{code: 2}]}`, ``},
		{"pipeline", three, `{update: 'c', updates: [{q: {_id: 1}, u: [{$set: {y: {$add: ['$x', 1]}}}, {$unset: 'x'}]}]}`, `{n: 1, nModified: 1}`, `{_id: 1, y: 12}, {_id: 2, x: 22}, {_id: 3, x: 33}`},
		{"pipeline with let", three, `{update: 'c', let: {v: 5}, updates: [{q: {$expr: {$eq: ['$_id', 1]}}, u: [{$set: {x: '$$v'}}]}]}`, `{n: 1}`, `{_id: 1, x: 5}, {_id: 2, x: 22}, {_id: 3, x: 33}`},
		{"pipeline with constants", three, `{update: 'c', updates: [{q: {_id: 1}, u: [{$set: {x: '$$k'}}], c: {k: 4}}]}`, `{n: 1}`, `{_id: 1, x: 4}, {_id: 2, x: 22}, {_id: 3, x: 33}`},
		{"pipeline with another stage", three, `{update: 'c', updates: [{q: {_id: 1}, u: [{$match: {}}]}]}`, `{n: 0, writeErrors: [{code: 72}]}`, three},
		{"let that is not there", three, `{update: 'c', updates: [{q: {$expr: {$eq: ['$_id', '$$no']}}, u: {$set: {x: 1}}}]}`, `{writeErrors: [{code: 17276}]}`, three},
		{"hint by name", three, `{update: 'c', updates: [{q: {_id: 1}, u: {$inc: {x: 1}}, hint: '_id_'}]}`, `{n: 1}`, ``},
		{"hint that is no index", three, `{update: 'c', updates: [{q: {_id: 1}, u: {$inc: {x: 1}}, hint: 'no'}]}`, `{n: 0, writeErrors: [{code: 2, errmsg: {$$has: 'hint provided does not correspond to an existing index'}}]}`, three},
		{"ordered stops", three, `{update: 'c', updates: [{q: {_id: 1}, u: {$inc: {x: 1}}}, {q: {_id: 2}, u: {$set: {_id: 4}}}, {q: {_id: 3}, u: {$inc: {x: 1}}}]}`, `{n: 1, nModified: 1, writeErrors: [{index: 1, code: 66}]}`, `{_id: 1, x: 12}, {_id: 2, x: 22}, {_id: 3, x: 33}`},
		{"unordered goes on", three, `{update: 'c', ordered: false, updates: [{q: {_id: 1}, u: {$inc: {x: 1}}}, {q: {_id: 2}, u: {$set: {_id: 4}}}, {q: {_id: 3}, u: {$inc: {x: 1}}}]}`, `{n: 2, nModified: 2, writeErrors: [{index: 1, code: 66}]}`, `{_id: 1, x: 12}, {_id: 2, x: 22}, {_id: 3, x: 34}`},
		{"many that fail in the middle", `{_id: 1, x: 1}, {_id: 2, x: 'a'}, {_id: 3, x: 3}`, `{update: 'c', updates: [{q: {}, u: {$inc: {x: 1}}, multi: true}]}`, `{n: 0, nModified: 0, writeErrors: [{index: 0, code: 14}]}`, `{_id: 1, x: 2}, {_id: 2, x: 'a'}, {_id: 3, x: 3}`},
		{"unique index", `{_id: 1, a: 1}, {_id: 2, a: 2}`, "{createIndexes: 'c', indexes: [{name: 'a_1', key: {a: 1}, unique: true}]}\n{update: 'c', updates: [{q: {_id: 1}, u: {$set: {a: 2}}}]}", `{n: 0, writeErrors: [{code: 11000, keyPattern: {a: 1}, keyValue: {a: 2}}]}`, `{_id: 1, a: 1}, {_id: 2, a: 2}`},
		{"unique index of one's own value", `{_id: 1, a: 1}`, "{createIndexes: 'c', indexes: [{name: 'a_1', key: {a: 1}, unique: true}]}\n{update: 'c', updates: [{q: {_id: 1}, u: {$set: {a: 1, b: 2}}}]}", `{n: 1, nModified: 1}`, `{_id: 1, a: 1, b: 2}`},
		{"without a query", three, `{update: 'c', updates: [{u: {$set: {x: 1}}}]}`, `{ok: 0, code: 40414}`, three},
		{"without an update", three, `{update: 'c', updates: [{q: {}}]}`, `{ok: 0, code: 40414}`, three},
		{"unknown member of a statement", three, `{update: 'c', updates: [{q: {}, u: {$set: {x: 1}}, sort: {x: 1}}]}`, `{ok: 0, code: 40415}`, three},
		{"collation that is not simple", three, `{update: 'c', updates: [{q: {}, u: {$set: {x: 1}}, collation: {locale: 'fr'}}]}`, `{writeErrors: [{code: 115}]}`, three},
		{"a view", three, "{create: 'v', viewOn: 'c'}\n{update: 'v', updates: [{q: {}, u: {$set: {x: 2}}, upsert: true}]}", `{n: 0, writeErrors: [{code: 166}]}`, three},
		{"names with dollars and dots", `{_id: 1}`, `{update: 'c', updates: [{q: {_id: 1}, u: [{$replaceWith: {$setField: {field: 'a.b', input: '$$ROOT', value: 1}}}]}]}`, `{n: 1}`, `{_id: 1, 'a.b': 1}`},
		{"replacement with dotted and inner dollar names", `{_id: 1}`, `{update: 'c', updates: [{q: {_id: 1}, u: {'a.b': 1, c: {$d: 2}}}]}`, `{n: 1}`, `{_id: 1, 'a.b': 1, c: {$d: 2}}`},
		{"path through a number", `{_id: 1, a: 5}`, `{update: 'c', updates: [{q: {_id: 1}, u: {$set: {'a.b': 1}}}]}`, `{writeErrors: [{code: 28, errmsg: {$$has: 'Cannot create field '}}]}`, ``},
	})
}

func TestSpecDelete(t *testing.T) {
	t.Parallel()
	three := `{_id: 1, x: 11}, {_id: 2, x: 22}, {_id: 3, x: 33}`
	runCRUD(t, []crudCase{
		{"one", three, `{delete: 'c', deletes: [{q: {_id: {$gt: 1}}, limit: 1}]}`, `{ok: 1, n: 1}`,
			`{_id: 1, x: 11}, {_id: 3, x: 33}`},
		{"many", three, `{delete: 'c', deletes: [{q: {_id: {$gt: 1}}, limit: 0}]}`, `{n: 2}`, `{_id: 1, x: 11}`},
		{"several", three, `{delete: 'c', deletes: [{q: {_id: 1}, limit: 1}, {q: {x: 33}, limit: 0}, {q: {x: 99}, limit: 0}]}`, `{n: 2}`, `{_id: 2, x: 22}`},
		{"let", three, `{delete: 'c', let: {v: 1}, deletes: [{q: {$expr: {$eq: ['$_id', '$$v']}}, limit: 1}]}`, `{n: 1}`, `{_id: 2, x: 22}, {_id: 3, x: 33}`},
		{"hint", three, `{delete: 'c', deletes: [{q: {_id: 1}, limit: 1, hint: {_id: 1}}]}`, `{n: 1}`, ``},
		{"bad hint", three, `{delete: 'c', deletes: [{q: {_id: 1}, limit: 1, hint: 'no'}]}`, `{n: 0, writeErrors: [{code: 2}]}`, three},
		{"no limit", three, `{delete: 'c', deletes: [{q: {}}]}`, `{ok: 0, code: 40414}`, three},
		{"limit 2", three, `{delete: 'c', deletes: [{q: {}, limit: 2}]}`, `{ok: 0, code: 9}`, three},
		{"bad query, ordered", three, `{delete: 'c', deletes: [{q: {a: {$what: 1}}, limit: 0}, {q: {}, limit: 0}]}`, `{n: 0, writeErrors: [{index: 0, code: 2}]}`, three},
		{"bad query, unordered", three, `{delete: 'c', ordered: false, deletes: [{q: {a: {$what: 1}}, limit: 0}, {q: {}, limit: 0}]}`, `{n: 3, writeErrors: [{index: 0, code: 2}]}`, `-`},
		{"missing collection", "", `{delete: 'c', deletes: [{q: {}, limit: 0}]}`, `{ok: 1, n: 0}`, ``},
		{"bad hint on a missing collection", "", `{delete: 'c', deletes: [{q: {}, limit: 0, hint: 'no'}]}`,
			`{ok: 1, n: 0}`, ``},
		{"a view", three, "{create: 'v', viewOn: 'c'}\n{delete: 'v', deletes: [{q: {}, limit: 0}]}", `{n: 0, writeErrors: [{code: 166}]}`, three},
		{"collation", three, `{delete: 'c', deletes: [{q: {}, limit: 0, collation: {locale: 'simple'}}]}`, `{n: 3}`, `-`},
	})
}

func TestSpecFindAndModify(t *testing.T) {
	t.Parallel()
	three := `{_id: 1, x: 11}, {_id: 2, x: 22}, {_id: 3, x: 33}`
	runCRUD(t, []crudCase{
		{"update, before", three, `{findAndModify: 'c', query: {_id: 2}, update: {$inc: {x: 1}}}`, `{lastErrorObject: {n: 1, updatedExisting: true}, value: {_id: 2, x: 22}}`, `{_id: 1, x: 11}, {_id: 2, x: 23}, {_id: 3, x: 33}`},
		{"update, after", three, `{findAndModify: 'c', query: {_id: 2}, update: {$inc: {x: 1}}, new: true, fields: {x: 1, _id: 0}}`, `{value: {x: 23, _id: {$$no: 1}}}`, ``},
		{"sort", three, `{findAndModify: 'c', sort: {x: -1}, update: {$set: {y: 1}}, new: true}`, `{value: {_id: 3, x: 33, y: 1}}`, ``},
		{"natural order from the end", three, `{findAndModify: 'c', sort: {$natural: -1}, remove: true}`,
			`{value: {_id: 3, x: 33}}`, `{_id: 1, x: 11}, {_id: 2, x: 22}`},
		{"none", three, `{findAndModify: 'c', query: {_id: 9}, update: {$set: {y: 1}}}`, `{lastErrorObject: {n: 0, updatedExisting: false}, value: null}`, three},
		{"upsert, before", three, `{findAndModify: 'c', query: {_id: 4}, update: {$inc: {x: 1}}, upsert: true}`, `{lastErrorObject: {n: 1, updatedExisting: false, upserted: 4}, value: null}`, three + `, {_id: 4, x: 1}`},
		{"upsert, after", three, `{findAndModify: 'c', query: {_id: 4}, update: {x: 1}, upsert: true, new: true}`, `{lastErrorObject: {n: 1, updatedExisting: false, upserted: 4}, value: {_id: 4, x: 1}}`, ``},
		{"remove", three, `{findAndModify: 'c', query: {x: 22}, remove: true}`, `{lastErrorObject: {n: 1, updatedExisting: {$$no: 1}}, value: {_id: 2, x: 22}}`, `{_id: 1, x: 11}, {_id: 3, x: 33}`},
		{"remove none", three, `{findAndModify: 'c', query: {x: 99}, remove: true}`,
			`{lastErrorObject: {n: 0}, value: null}`, three},
		{"remove and update", three, `{findAndModify: 'c', query: {}, remove: true, update: {x: 1}}`, `{ok: 0, code: 9}`, three},
		{"neither", three, `{findAndModify: 'c', query: {}}`, `{ok: 0, code: 9}`, three},
		{"pipeline", three, `{findAndModify: 'c', query: {_id: 1}, update: [{$set: {y: '$x'}}], new: true}`, `{value: {_id: 1, x: 11, y: 11}}`, ``},
		{"let", three, `{findAndModify: 'c', query: {$expr: {$eq: ['$_id', '$$v']}}, let: {v: 2}, update: {$set: {y: 1}}}`, `{value: {_id: 2}}`, ``},
		{"array filters", `{_id: 1, y: [{b: 3}, {b: 1}]}`, `{findAndModify: 'c', query: {}, update: {$set: {'y.$[i].b': 2}}, arrayFilters: [{'i.b': 3}], new: true}`, `{value: {y: [{b: 2}, {b: 1}]}}`, ``},
		{"positional projection", `{_id: 1, y: [1, 2, 3]}`, `{findAndModify: 'c', query: {y: 2}, update: {$set: {z: 1}}, fields: {'y.$': 1}}`, `{value: {_id: 1, y: [2]}}`, ``},
		{"duplicate key", three, `{findAndModify: 'c', query: {_id: 1, x: 0}, update: {$set: {y: 1}}, upsert: true}`, `{ok: 0, code: 11000, codeName: 'DuplicateKey', keyPattern: {_id: 1}, keyValue: {_id: 1}, errmsg: {$$has: 'Plan executor error during findAndModify :: caused by :: E11000 duplicate key error collection: test.c index: _id_ dup key: {'}}`, three},
		{"bad hint", three, `{findAndModify: 'c', query: {_id: 1}, hint: 'no', remove: true}`, `{ok: 0, code: 2}`, three},
		{"set _id", three, `{findAndModify: 'c', query: {_id: 1}, update: {$set: {_id: 4}}}`, `{ok: 0, code: 66}`, three},
		{"a view", three, "{create: 'v', viewOn: 'c'}\n{findAndModify: 'v', query: {}, remove: true}", `{ok: 0, code: 166}`, three},
	})
}

func TestSpecFind(t *testing.T) {
	t.Parallel()
	six := `{_id: 1, x: 11}, {_id: 2, x: 22}, {_id: 3, x: 33}, {_id: 4, x: 44}, {_id: 5, x: 55}, {_id: 6, x: 66}`
	runCRUD(t, []crudCase{
		{"filter", six, `{find: 'c', filter: {_id: 1}}`, `{cursor: {id: 0, ns: 'test.c', firstBatch: [{_id: 1, x: 11}]}}`, ``},
		{"sort, skip, limit", six, `{find: 'c', filter: {_id: {$gt: 2}}, sort: {_id: 1}, skip: 2, limit: 2}`, `{cursor: {firstBatch: [{_id: 5}, {_id: 6}], id: 0}}`, ``},
		{"sort without an index, skip, limit", six, `{find: 'c', sort: {x: -1}, skip: 1, limit: 2}`,
			`{cursor: {firstBatch: [{_id: 5}, {_id: 4}], id: 0}}`, ``},
		{"sort with an index, skip, limit", six, "{createIndexes: 'c', indexes: [{name: 'x_1', key: {x: 1}}]}\n{find: 'c', sort: {x: -1}, skip: 1, limit: 2}", `{cursor: {firstBatch: [{_id: 5}, {_id: 4}], id: 0}}`, ``},
		{"natural", six, `{find: 'c', sort: {$natural: 1}, limit: 2}`,
			`{cursor: {firstBatch: [{_id: 1}, {_id: 2}]}}`, ``},
		{"natural from the end", six, `{find: 'c', sort: {$natural: -1}, skip: 1, limit: 2}`,
			`{cursor: {firstBatch: [{_id: 5}, {_id: 4}]}}`, ``},
		{"natural from the end with a filter", six, `{find: 'c', filter: {_id: {$lt: 4}}, sort: {$natural: -1}}`, `{cursor: {firstBatch: [{_id: 3}, {_id: 2}, {_id: 1}]}}`, ``},
		{"natural from the end by hint", six, `{find: 'c', hint: {$natural: -1}, limit: 2}`,
			`{cursor: {firstBatch: [{_id: 6}, {_id: 5}]}}`, ``},
		{"natural with another path", six, `{find: 'c', sort: {$natural: 1, x: 1}}`, `{ok: 0, code: 2}`, ``},
		{"bad hint", six, `{find: 'c', hint: 'no'}`, `{ok: 0, code: 2, errmsg: {$$has: 'hint provided does not correspond to an existing index'}}`, ``},
		{"hint of a wrong type", six, `{find: 'c', hint: 1}`, `{ok: 0, code: 9}`, ``},
		{"batch size 0", six, `{find: 'c', batchSize: 0}`, `{cursor: {id: {$$any: 1}, firstBatch: []}}`, ``},
		{"batch size 0 and single batch", six, `{find: 'c', batchSize: 0, singleBatch: true}`,
			`{cursor: {id: 0, firstBatch: []}}`, ``},
		{"single batch", six, `{find: 'c', batchSize: 2, singleBatch: true}`,
			`{cursor: {id: 0, firstBatch: [{_id: 1}, {_id: 2}]}}`, ``},
		{"limit ends the cursor", six, `{find: 'c', limit: 2}`,
			`{cursor: {id: 0, firstBatch: [{_id: 1}, {_id: 2}]}}`, ``},
		{"limit of a batch ends the cursor", six, `{find: 'c', limit: 2, batchSize: 2}`,
			`{cursor: {id: 0, firstBatch: [{_id: 1}, {_id: 2}]}}`, ``},
		{"negative limit", six, `{find: 'c', limit: -2}`, `{ok: 0, code: 51024}`, ``},
		{"negative batch", six, `{find: 'c', batchSize: -2}`, `{ok: 0, code: 51024}`, ``},
		{"negative skip", six, `{find: 'c', skip: -2}`, `{ok: 0, code: 51024}`, ``},
		{"let", six, `{find: 'c', let: {v: 2}, filter: {$expr: {$eq: ['$_id', '$$v']}}, projection: {y: '$$v'}}`, `{cursor: {firstBatch: [{_id: 2, y: 2}]}}`, ``},
		{"let that is missing", six, `{find: 'c', filter: {$expr: {$eq: ['$_id', '$$v']}}}`,
			`{ok: 0, code: 17276}`, ``},
		{"expression", six, `{find: 'c', filter: {_id: 2}, projection: {_id: 0, s: {$add: ['$x', 1]}}}`, `{cursor: {firstBatch: [{_id: {$$no: 1}, x: {$$no: 1}, s: 23}]}}`, ``},
		{"slice", `{_id: 1, a: [1, 2, 3, 4]}`, `{find: 'c', projection: {a: {$slice: [1, 2]}}}`,
			`{cursor: {firstBatch: [{_id: 1, a: [2, 3]}]}}`, ``},
		{"positional", `{_id: 1, a: [1, 2, 3, 4]}`, `{find: 'c', filter: {a: {$gt: 2}}, projection: {'a.$': 1}}`, `{cursor: {firstBatch: [{_id: 1, a: [3]}]}}`, ``},
		{"positional beside $expr", `{_id: 1, x: 1, a: [1, 2, 3, 4]}`, `{find: 'c', filter: {a: {$gt: 2}, $expr: {$eq: ['$x', 1]}}, projection: {'a.$': 1}}`, `{cursor: {firstBatch: [{_id: 1, a: [3]}]}}`, ``},
		{"positional of a view", `{_id: 1, x: 1, a: [1, 2, 3, 4]}`, "{create: 'v', viewOn: 'c'}\n{find: 'v', filter: {a: {$gt: 2}}, projection: {'a.$': 1}}", `{ok: 0, code: {$$any: 1}}`, ``},
		{"$elemMatch", `{_id: 1, a: [{b: 1}, {b: 2}]}`, `{find: 'c', projection: {a: {$elemMatch: {b: 2}}}}`,
			`{cursor: {firstBatch: [{a: [{b: 2}]}]}}`, ``},
		{"mixed projection", six, `{find: 'c', projection: {a: 1, b: 0}}`, `{ok: 0, code: 31254}`, ``},
		{"unknown operator", six, `{find: 'c', filter: {a: {$what: 1}}}`, `{ok: 0, code: 2, codeName: 'BadValue', errmsg: 'unknown operator: $what'}`, ``},
		{"missing collection", "", `{find: 'c', filter: {a: 1}}`,
			`{ok: 1, cursor: {id: 0, ns: 'test.c', firstBatch: []}}`, ``},
		{"no cursor timeout", six, `{find: 'c', noCursorTimeout: true, allowDiskUse: true, allowPartialResults: true, comment: 'x'}`, `{ok: 1}`, ``},
		{"collation", six, `{find: 'c', filter: {x: 'a'}, collation: {locale: 'en_US'}}`, `{ok: 0, code: 115}`, ``},
		{"runtime error", six, `{find: 'c', projection: {y: {$divide: [1, {$subtract: ['$x', '$x']}]}}}`, `{ok: 0, code: {$$any: 1}, errmsg: {$$has: 'Executor error during find command'}}`, ``},
	})
}

func TestSpecCount(t *testing.T) {
	t.Parallel()
	three := `{_id: 1, x: 11}, {_id: 2, x: 22}, {_id: 3, x: 33}`
	sparse := `{createIndexes: 'c', indexes: [{name: 's', key: {s: 1}, sparse: true}]}`
	runCRUD(t, []crudCase{
		{"all", three, `{count: 'c'}`, `{ok: 1, n: 3}`, ``},
		{"missing collection", "", `{count: 'c'}`, `{ok: 1, n: 0}`, ``},
		{"query", three, `{count: 'c', query: {_id: {$gt: 1}}}`, `{n: 2}`, ``},
		{"skip and limit", three, `{count: 'c', skip: 1, limit: 3}`, `{n: 2}`, ``},
		{"skip and limit of a query", three, `{count: 'c', query: {x: {$gt: 0}}, skip: 1, limit: 1}`, `{n: 1}`, ``},
		{"negative limit", three, `{count: 'c', limit: -2}`, `{n: 2}`, ``},
		{"negative skip", three, `{count: 'c', skip: -2}`, `{ok: 0, code: 51024}`, ``},
		{"bad hint", three, `{count: 'c', hint: 'no'}`, `{ok: 0, code: 2}`, ``},
		{"sparse hint", three + `, {_id: 4, s: 1}`, sparse + "\n" + `{count: 'c', hint: 's'}`, `{n: 1}`, ``},
		{"view", three, "{create: 'v', viewOn: 'c', pipeline: [{$match: {_id: {$gt: 1}}}]}\n{count: 'v', query: {x: {$gt: 0}}, limit: 5}", `{n: 2}`, ``},
		{"distinct", three + `, {_id: 4, x: [11, 44, [5]]}`, `{distinct: 'c', key: 'x'}`,
			`{values: [11, 22, 33, 44, [5]]}`, ``},
		{"distinct with a query", three, `{distinct: 'c', key: 'x', query: {_id: {$lt: 3}}, comment: 'a'}`, `{values: [11, 22]}`, ``},
		{"distinct of nothing", "", `{distinct: 'c', key: 'x'}`, `{ok: 1, values: []}`, ``},
		{"distinct of numbers that are equal", `{_id: 1, x: 1}, {_id: 2, x: 1.0}, {_id: 3, x: null}, {_id: 4}`, `{distinct: 'c', key: 'x'}`, `{values: [1, null]}`, ``},
		{"distinct of a view", three, "{create: 'v', viewOn: 'c', pipeline: [{$match: {_id: {$gt: 1}}}]}\n{distinct: 'v', key: 'x'}", `{values: [22, 33]}`, ``},
		{"distinct without a key", three, `{distinct: 'c'}`, `{ok: 0, code: 40414}`, ``},
	})
}

func TestSpecAggregate(t *testing.T) {
	t.Parallel()
	three := `{_id: 1, x: 11}, {_id: 2, x: 22}, {_id: 3, x: 33}`
	runCRUD(t, []crudCase{
		{"match", three, `{aggregate: 'c', pipeline: [{$match: {_id: {$gt: 1}}}, {$sort: {x: -1}}], cursor: {}}`, `{cursor: {id: 0, ns: 'test.c', firstBatch: [{_id: 3}, {_id: 2}]}}`, ``},
		{"without a cursor", three, `{aggregate: 'c', pipeline: []}`, `{ok: 0, code: 9}`, ``},
		{"missing collection", "", `{aggregate: 'c', pipeline: [{$group: {_id: null, n: {$sum: 1}}}], cursor: {}}`, `{cursor: {id: 0, firstBatch: []}}`, ``},
		{"let", three, `{aggregate: 'c', pipeline: [{$match: {$expr: {$eq: ['$_id', '$$v']}}}, {$project: {y: '$$w'}}], let: {v: 2, w: {$add: [1, 2]}}, cursor: {}}`, `{cursor: {firstBatch: [{_id: 2, y: 3}]}}`, ``},
		{"allowDiskUse", three, `{aggregate: 'c', pipeline: [{$count: 'n'}], allowDiskUse: true, cursor: {}}`, `{cursor: {firstBatch: [{n: 3}]}}`, ``},
		{"unknown stage", three, `{aggregate: 'c', pipeline: [{$what: 1}], cursor: {}}`, `{ok: 0, code: 40324}`, ``},
		{"runtime error", three, `{aggregate: 'c', pipeline: [{$project: {y: {$arrayElemAt: ['$x', 0]}}}], cursor: {}}`, `{ok: 0, code: 28689, codeName: 'Location28689', errmsg: {$$has: 'PlanExecutor error during aggregation :: caused by :: $arrayElemAt'}}`, ``},
		{"out", three, "{aggregate: 'c', pipeline: [{$match: {_id: {$gt: 1}}}, {$out: 'o'}], cursor: {}}\n{find: 'o'}", `{cursor: {firstBatch: [{_id: 2}, {_id: 3}]}}`, three},
		{"out answers no documents", three, `{aggregate: 'c', pipeline: [{$out: 'o'}], cursor: {}, writeConcern: {w: 'majority'}}`, `{ok: 1, cursor: {id: 0, ns: 'test.c', firstBatch: []}}`, three},
		{"out onto itself", three, `{aggregate: 'c', pipeline: [{$match: {_id: 1}}, {$out: 'c'}], cursor: {}}`, `{ok: 1}`, `{_id: 1, x: 11}`},
		{"out keeps indexes", three, "{createIndexes: 'o', indexes: [{name: 'x_1', key: {x: 1}, unique: true}]}\n{aggregate: 'c', pipeline: [{$out: 'o'}], cursor: {}}\n{insert: 'o', documents: [{x: 11}]}", `{n: 0, writeErrors: [{code: 11000, keyPattern: {x: 1}}]}`, ``},
		{"out that fails leaves all as it was", three, "{insert: 'o', documents: [{_id: 'old'}]}\n{aggregate: 'c', pipeline: [{$set: {_id: 1}}, {$out: 'o'}], cursor: {}}\n{find: 'o'}", `{cursor: {firstBatch: [{_id: 'old'}]}}`, three},
		{"out of duplicates", three, `{aggregate: 'c', pipeline: [{$set: {_id: 1}}, {$out: 'o'}], cursor: {}}`, `{ok: 0, code: 11000, keyPattern: {_id: 1}}`, three},
		{"out validates", three, "{create: 'o', validator: {x: {$lt: 20}}}\n{aggregate: 'c', pipeline: [{$out: 'o'}], cursor: {}}", `{ok: 0, code: 121}`, three},
		{"out does not validate", three, "{create: 'o', validator: {x: {$lt: 20}}}\n{aggregate: 'c', pipeline: [{$out: 'o'}], cursor: {}, bypassDocumentValidation: true}", `{ok: 1}`, three},
		{"merge", three, "{insert: 'o', documents: [{_id: 1, y: 5}]}\n{aggregate: 'c', pipeline: [{$match: {_id: {$lt: 3}}}, {$merge: {into: 'o'}}], cursor: {}}\n{find: 'o'}", `{cursor: {firstBatch: [{_id: 1, y: 5, x: 11}, {_id: 2, x: 22}]}}`, three},
		{"merge with let", three, "{insert: 'o', documents: [{_id: 1, y: 5}]}\n{aggregate: 'c', pipeline: [{$match: {_id: {$lt: 3}}}, {$merge: {into: 'o', let: {v: '$x'}, whenMatched: [{$set: {z: '$$v'}}]}}], cursor: {}}\n{find: 'o'}", `{cursor: {firstBatch: [{_id: 1, y: 5, z: 11, x: {$$no: 1}}, {_id: 2, x: 22}]}}`, three},
		{"merge that fails on a match", three, "{insert: 'o', documents: [{_id: 1, y: 5}]}\n{aggregate: 'c', pipeline: [{$merge: {into: 'o', whenMatched: 'fail'}}], cursor: {}}", `{ok: 0, code: 11000}`, three},
		{"merge that fails on no match", three, "{aggregate: 'c', pipeline: [{$merge: {into: 'o', whenNotMatched: 'fail'}}], cursor: {}}", `{ok: 0, code: 13113}`, three},
		{"merge without an index", three, `{aggregate: 'c', pipeline: [{$merge: {into: 'o', on: 'x'}}], cursor: {}}`, `{ok: 0, code: 51183}`, three},
		{"merge validates", three, "{create: 'o', validator: {x: {$lt: 20}}}\n{aggregate: 'c', pipeline: [{$merge: 'o'}], cursor: {}}", `{ok: 0, code: 121}`, three},
		{"lookup", three, `{aggregate: 'c', pipeline: [{$match: {_id: 1}}, {$lookup: {from: 'c', localField: '_id', foreignField: '_id', as: 'l'}}], cursor: {}}`, `{cursor: {firstBatch: [{_id: 1, l: [{_id: 1, x: 11}]}]}}`, ``},
		{"lookup in nothing", three, `{aggregate: 'c', pipeline: [{$match: {_id: 1}}, {$lookup: {from: 'no', localField: '_id', foreignField: '_id', as: 'l'}}], cursor: {}}`, `{cursor: {firstBatch: [{_id: 1, l: []}]}}`, ``},
		{"union", three, `{aggregate: 'c', pipeline: [{$match: {_id: 1}}, {$unionWith: {coll: 'c', pipeline: [{$match: {_id: 3}}]}}], cursor: {}}`, `{cursor: {firstBatch: [{_id: 1}, {_id: 3}]}}`, ``},
		{"graph", `{_id: 1, p: 2}, {_id: 2, p: 3}, {_id: 3, p: 1}`, `{aggregate: 'c', pipeline: [{$match: {_id: 1}}, {$graphLookup: {from: 'c', startWith: '$p', connectFromField: 'p', connectToField: '_id', as: 'g', maxDepth: 1}}, {$project: {n: {$size: '$g'}}}], cursor: {}}`, `{cursor: {firstBatch: [{_id: 1, n: 2}]}}`, ``},
		{"view", three, "{create: 'v', viewOn: 'c', pipeline: [{$match: {_id: {$gt: 1}}}, {$project: {x: 1}}]}\n{aggregate: 'v', pipeline: [{$group: {_id: null, s: {$sum: '$x'}}}], cursor: {}}", `{cursor: {ns: 'test.v', firstBatch: [{s: 55}]}}`, ``},
		{"view of a view", three, "{create: 'v', viewOn: 'c', pipeline: [{$match: {_id: {$gt: 1}}}]}\n{create: 'w', viewOn: 'v', pipeline: [{$match: {_id: {$lt: 3}}}]}\n{find: 'w'}", `{cursor: {ns: 'test.w', firstBatch: [{_id: 2}]}}`, ``},
		{"into a view", three, "{create: 'v', viewOn: 'c'}\n{aggregate: 'c', pipeline: [{$merge: 'v'}], cursor: {}}", `{ok: 0, code: 166}`, ``},
		{"database", "", `{aggregate: 1, pipeline: [{$documents: [{a: 1}, {a: 2}]}], cursor: {}}`, `{cursor: {firstBatch: [{a: 1}, {a: 2}], ns: 'test.$cmd.aggregate'}}`, ``},
		{"database without a source", "", `{aggregate: 1, pipeline: [{$match: {}}], cursor: {}}`,
			`{ok: 0, code: 73}`, ``},
		{"negative batch", three, `{aggregate: 'c', pipeline: [], cursor: {batchSize: -1}}`,
			`{ok: 0, code: 51024}`, ``},
	})
}

func TestSpecBulkWrite(t *testing.T) {
	t.Parallel()
	for _, ordered := range []bool{true, false} {
		c := newServer(t, nil).Database("test").Collection("c")
		set := func(name string, v any) bson.D { return bson.D{{Key: "$set", Value: bson.D{{Key: name, Value: v}}}} }
		id := func(n int) bson.D { return bson.D{{Key: "_id", Value: n}} }
		result, err := c.BulkWrite(t.Context(), []mongo.WriteModel{
			mongo.NewInsertOneModel().SetDocument(id(1)),
			mongo.NewInsertOneModel().SetDocument(id(2)),
			mongo.NewUpdateOneModel().SetFilter(id(1)).SetUpdate(set("x", 1)),
			mongo.NewUpdateManyModel().SetFilter(bson.D{}).SetUpdate(set("y", 1)),
			mongo.NewReplaceOneModel().SetFilter(id(3)).SetReplacement(bson.D{{Key: "z", Value: 1}}).SetUpsert(true),
			mongo.NewInsertOneModel().SetDocument(id(1)),
			mongo.NewDeleteOneModel().SetFilter(id(2)),
			mongo.NewDeleteManyModel().SetFilter(bson.D{{Key: "x", Value: 1}}),
		}, options.BulkWrite().SetOrdered(ordered))
		var e mongo.BulkWriteException
		if !errors.As(err, &e) || len(e.WriteErrors) != 1 {
			t.Errorf("ordered %v: %v", ordered, err)
		} else if only := e.WriteErrors[0]; only.Index != 5 || only.Code != 11000 {
			t.Errorf("ordered %v: %v", ordered, err)
		}
		deleted := map[bool]int64{true: 0, false: 2}[ordered]
		upserted := result.UpsertedCount == 1 && result.UpsertedIDs[4] == int32(3)
		if result.InsertedCount != 2 || !upserted || result.DeletedCount != deleted {
			t.Errorf("ordered %v: %+v", ordered, result)
		}
		if n := count(t, c, bson.D{}); n != 3-deleted {
			t.Errorf("ordered %v: %d are left", ordered, n)
		}
	}
}
