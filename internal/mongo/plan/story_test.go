package plan

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestStories plans the cases of testdata. "index {a: 1} {sparse: true}" adds an index, with multikey: true among the
// options that MongoDB has; "entries a_1 5" says how many entries any scan of an index reads, and "entries a_1 5 7"
// those that begin with the value 7; "indexes" drops all but that on _id. Each other line is a filter, perhaps " | sort
// {...}", " | limit 5" and " | hint ...", and the plan: the stages from the last to the first, or with " | full" as
// explain has them. Single is access.IndexScan's.
func TestStories(t *testing.T) {
	storytest.Run(t, "testdata/*.txt", storytest.Lines, func() storytest.Answer {
		indexes, entries := []access.NamedIndex{identity}, counts{}
		return func(t *testing.T, given string) (string, bool) {
			word, rest, _ := strings.Cut(given, " ")
			switch word {
			case "indexes":
				indexes = indexes[:1:1]
			case "index":
				indexes = append(indexes, readIndex(t, rest, len(indexes)))
			case "entries":
				name, n, _ := strings.Cut(rest, " ")
				n, value, _ := strings.Cut(n, " ")
				for i := range indexes {
					if indexes[i].Name == name {
						entries[begin{indexes[i].Index, value}], _ = strconv.Atoi(n)
					}
				}
			default:
				return answer(t, given, indexes, entries), true
			}
			return "", false
		}
	})
}

// counts are numbers of entries.
type counts map[begin]int

// A begin is the number of an index and the first value of a scan, "" for any.
type begin struct {
	index uint32
	value string
}

// count is a CountEntries.
func (c counts) count(of *access.IndexScan, most int) (int, error) {
	value := ""
	if len(of.Intervals) > 0 && len(of.Intervals[0].Equal) > 0 {
		equal := of.Intervals[0].Equal
		value = string(appendText(nil, equal[len(equal)-1]))
	}
	n, known := c[begin{of.Index, value}]
	if !known {
		n, known = c[begin{of.Index, ""}]
	}
	if !known {
		return 0, errors.New("nobody knows")
	}
	return min(n, most), nil
}

var identity = access.NamedIndex{Index: access.Identity, Name: "_id_", Columns: []access.NamedColumn{{Path: "_id"}},
	Unique: true}

// document reads extended JSON.
func document(t testing.TB, text string) doc.Doc {
	t.Helper()
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(text), false, &raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc.Doc(raw)
}

// readIndex reads {"a": 1} {"sparse": true}.
func readIndex(t testing.TB, text string, number int) access.NamedIndex {
	key, options, both := strings.Cut(text, "} {")
	if both {
		key, options = key+"}", "{"+options
	} else {
		options = "{}"
	}
	ix := access.NamedIndex{Index: uint32(number)}
	var name []string
	for path, v := range doc.Members(document(t, key)) {
		direction, _ := doc.AsInt(v)
		name = append(name, path, strconv.Itoa(int(direction)))
		if root, ok := strings.CutSuffix("."+path, ".$**"); ok {
			ix.Wildcard, path = true, strings.TrimPrefix(root, ".")
		}
		ix.Columns = append(ix.Columns, access.NamedColumn{Path: path, Descending: direction < 0})
	}
	ix.Name = strings.Join(name, "_")
	given := document(t, options)
	for option, field := range map[string]*bool{"unique": &ix.Unique, "sparse": &ix.Sparse, "hidden": &ix.Hidden,
		"multikey": &ix.Multikey} {
		*field, _ = doc.AsBool(doc.Lookup(given, option))
	}
	ix.Partial, _ = doc.AsDoc(doc.Lookup(given, "partialFilterExpression"))
	ix.Projection, _ = doc.AsDoc(doc.Lookup(given, "wildcardProjection"))
	if other, ok := doc.AsString(doc.Lookup(given, "name")); ok {
		ix.Name = other
	}
	return ix
}

// readQuery reads a filter and what is behind it.
func readQuery(t testing.TB, text string) (q Query, full bool) {
	parts := strings.Split(text, " | ")
	q.Namespace, q.Text = "d.c", document(t, parts[0])
	var err error
	if q.Filter, err = filter.Compile(q.Text, filter.Options{}); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	for _, part := range parts[1:] {
		word, rest, _ := strings.Cut(part, " ")
		switch word {
		case "sort":
			for path, v := range doc.Members(document(t, rest)) {
				direction, _ := doc.AsInt(v)
				q.Sort = append(q.Sort, access.NamedColumn{Path: path, Descending: direction < 0})
			}
		case "limit":
			q.Limit, _ = strconv.ParseInt(rest, 10, 64)
		case "hint":
			q.Hint = doc.Lookup(document(t, `{"v": `+rest+`}`), "v")
		case "full":
			full = true
		default:
			t.Fatal(text)
		}
	}
	return q, full
}

func answer(t testing.TB, given string, indexes []access.NamedIndex, entries counts) string {
	q, full := readQuery(t, given)
	p, err := Choose(q, indexes, entries.count)
	if err != nil {
		var e *code.Error
		if !errors.As(err, &e) {
			return "strange error: " + err.Error()
		}
		return fmt.Sprintf("error %d: %s", e.Code, e.Message)
	}
	shown := p.Explain()
	if err := shown.Validate(); err != nil {
		t.Fatalf("%s explains itself in broken BSON: %v", given, err)
	}
	if full {
		return relaxed(t, shown)
	}
	scans := p.Scans()
	return stages(t, shown, &scans)
}

func relaxed(t testing.TB, d doc.Doc) string {
	text, err := bson.MarshalExtJSON(bson.Raw(d), false, false)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// stages shows stages in short.
func stages(t testing.TB, d doc.Doc, scans *access.IndexScans) string {
	name, _ := doc.AsString(doc.Lookup(d, "stage"))
	words := []string{name}
	for member, v := range doc.Members(d) {
		switch member {
		case "filter", "sortPattern":
			words = append(words, relaxed(t, doc.Doc(v.Data)))
		case "indexName":
			text, _ := doc.AsString(v)
			words = append(words, text)
		case "direction":
			if text, _ := doc.AsString(v); text == "backward" {
				words = append(words, text)
			}
		case "indexBounds":
			for path, list := range doc.Members(doc.Doc(v.Data)) {
				for e := range doc.Elements(list) {
					text, _ := doc.AsString(e)
					path += " " + text
				}
				words = append(words, path)
			}
		case "inputStage":
			words = append(words, "<-", stages(t, doc.Doc(v.Data), scans))
		case "inputStages":
			for e := range doc.Elements(v) {
				words = append(words, "("+stages(t, doc.Doc(e.Data), scans)+")")
			}
		}
	}
	if name == "IXSCAN" {
		if (*scans)[0].Single {
			words = append(words, "single")
		}
		*scans = (*scans)[1:]
	}
	return strings.Join(words, " ")
}
