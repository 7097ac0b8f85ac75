package pipeline

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/x/bsonx/bsoncore"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/code"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
)

// now is $$NOW in the tests.
var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// A memory is a Server with containers in memory. Without indexes it answers no Equal.
type memory struct {
	containers map[string][]doc.Doc
	indexes    bool
	reads      int // how often Documents or Equal is asked
	wrote      []string
	nextID     int64
}

func (m *memory) env() *Env {
	turn := 0
	random := func() float64 { turn++; return float64(turn*7%10) / 10 }
	return &Env{Now: now, Random: random, Server: m}
}

func (m *memory) Documents(_ context.Context, from Namespace, match *filter.Filter) Rows {
	m.reads++
	return rowsOf(m.containers[from.Container])
}

func (m *memory) Equal(_ context.Context, from Namespace, path string, values []doc.Value) (Rows, bool) {
	if !m.indexes {
		return nil, false
	}
	m.reads++
	f, err := compileOneOf(nil, path, values, false)
	if err != nil {
		return fail(err), true
	}
	return (&run{}).filtered(rowsOf(m.containers[from.Container]), f), true
}

func (m *memory) Source(_ context.Context, stage string, arg doc.Value) Rows {
	d, at := beginDoc(nil)
	d = doc.AppendElement(d, "stage", doc.String(stage))
	return rowsOf([]doc.Doc{endDoc(doc.AppendElement(d, "arg", arg), at)})
}

func (m *memory) Out(_ context.Context, into Namespace, rows Rows) error {
	all, err := collect(nil, rows)
	if err != nil {
		return err
	}
	for i := range all {
		all[i] = m.withID(all[i])
	}
	m.containers[into.Container] = all
	m.wrote = append(m.wrote, into.Container)
	return nil
}

// withID gives a document without _id one.
func (m *memory) withID(d doc.Doc) doc.Doc {
	if doc.Lookup(d, "_id").Type != 0 {
		return slices.Clone(d)
	}
	m.nextID++
	b, at := beginDoc(nil)
	b = doc.AppendElement(b, "_id", doc.String("new"+strconv.FormatInt(m.nextID, 10)))
	return endDoc(append(b, d[4:len(d)-1]...), at)
}

func (m *memory) Merge(_ context.Context, g *Merge, d doc.Doc, change func(doc.Doc) (doc.Doc, error)) error {
	if !slices.Contains(m.wrote, g.Into.Container) {
		m.wrote = append(m.wrote, g.Into.Container)
	}
	rows := m.containers[g.Into.Container]
	for i, old := range rows {
		if !sameOn(g.On, old, d) {
			continue
		}
		if g.WhenMatched == "fail" {
			return g.Failed(code.New(code.DuplicateKey, "E11000 duplicate key"))
		}
		changed, err := change(old)
		if err != nil {
			return err
		}
		rows = slices.Clone(rows)
		rows[i] = slices.Clone(changed)
		m.containers[g.Into.Container] = rows
		return nil
	}
	switch g.WhenNotMatched {
	case "fail":
		return g.NotMatched()
	case "insert":
		m.containers[g.Into.Container] = append(slices.Clone(rows), m.withID(d))
	}
	return nil
}

func sameOn(on []string, a, b doc.Doc) bool {
	for _, name := range on {
		p := path(strings.Split(name, "."))
		if v := p.in(a); v.Type == 0 || !doc.EqualBSON(v, p.in(b)) {
			return false
		}
	}
	return true
}

// bare is a name that stories have without quotes.
var bare = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[A-Za-z_$][\w$.]*\s*:`)

// relaxed makes extended JSON of {name: value}.
func relaxed(text string) string {
	return bare.ReplaceAllStringFunc(text, func(s string) string {
		if s[0] == '"' {
			return s
		}
		return strconv.Quote(strings.TrimSpace(strings.TrimSuffix(s, ":"))) + ":"
	})
}

func parse(t testing.TB, text string) doc.Value {
	t.Helper()
	var raw bson.Raw
	if err := bson.UnmarshalExtJSON([]byte(`{"v": `+relaxed(text)+`}`), false, &raw); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return doc.Lookup(doc.Doc(raw), "v")
}

func document(t testing.TB, text string) doc.Doc {
	t.Helper()
	d, ok := doc.AsDoc(parse(t, text))
	if !ok {
		t.Fatalf("%s is no document", text)
	}
	return d
}

func stagesOf(t testing.TB, text string) []doc.Value {
	t.Helper()
	var all []doc.Value
	for v := range doc.Elements(parse(t, text)) {
		all = append(all, v)
	}
	return all
}

func compile(t testing.TB, text string) *Pipeline {
	t.Helper()
	p, err := Compile(stagesOf(t, text), Options{})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

func describeError(err error) string {
	if e := code.Of(err); e != nil {
		return fmt.Sprintf("error %d: %s", e.Code, e.Message)
	}
	return "strange error: " + err.Error()
}

// appendValue writes extended JSON that tells the types of numbers apart.
func appendValue(dst []byte, v doc.Value) []byte {
	switch v.Type {
	case bsoncore.TypeInt64:
		return fmt.Appendf(dst, `{$numberLong: "%d"}`, v.Int64())
	case bsoncore.TypeDecimal128:
		d, _ := doc.AsDecimal(v)
		return fmt.Appendf(dst, `{$numberDecimal: "%s"}`, d)
	case bsoncore.TypeDouble:
		return appendDouble(dst, v.Double())
	case bsoncore.TypeArray:
		var parts [][]byte
		for e := range doc.Elements(v) {
			parts = append(parts, appendValue(nil, e))
		}
		return append(append(append(dst, '['), bytes.Join(parts, []byte(", "))...), ']')
	case bsoncore.TypeEmbeddedDocument:
		var parts [][]byte
		for name, e := range doc.Members(v.Data) {
			if !bare.MatchString(name+":") || strings.ContainsAny(name, " -") {
				name = strconv.Quote(name)
			}
			parts = append(parts, appendValue(fmt.Appendf(nil, "%s: ", name), e))
		}
		return append(append(append(dst, '{'), bytes.Join(parts, []byte(", "))...), '}')
	}
	return doc.AppendJSONValue(dst, v)
}

func appendDouble(dst []byte, f float64) []byte {
	switch {
	case math.IsNaN(f):
		return append(dst, `{$numberDouble: "NaN"}`...)
	case math.IsInf(f, 0):
		return fmt.Appendf(dst, `{$numberDouble: "%vInfinity"}`,
			strings.TrimPrefix(strings.TrimSuffix(fmt.Sprint(f), "Inf"), "+"))
	}
	text := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(text, ".e") {
		text += ".0"
	}
	return append(dst, text...)
}

// lines are rows, or as many as come before an error, and the error.
func lines(t testing.TB, rows Rows) []string {
	t.Helper()
	var all []string
	for d, err := range rows {
		if err != nil {
			return append(all, describeError(err))
		}
		if err := d.Validate(); err != nil {
			t.Errorf("broken BSON %x: %v", []byte(d), err)
		}
		all = append(all, string(appendValue(nil, doc.Object(d))))
	}
	return all
}
