package script

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/fault"
)

// A memoryCollection is a Collection in memory: documents by id, in order of creation. It supports the queries
// "everything", and equality with the first parameter or with true.
type memoryCollection struct {
	t     testing.TB
	ids   []string
	docs  map[string]map[string]any
	write int // counts versions
	calls int
}

func newMemoryCollection(t testing.TB, docs ...string) *memoryCollection {
	s := &memoryCollection{t: t, docs: map[string]map[string]any{}}
	for _, d := range docs {
		if _, err := s.Create([]byte(d)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func (s *memoryCollection) SelfLink() string { return "dbs/QQ==/colls/QQQ=/" }
func (s *memoryCollection) AltLink() string  { return "dbs/d/colls/c" }

func (s *memoryCollection) id(link string) string {
	id := link[strings.LastIndexByte(link, '/')+1:]
	return strings.TrimPrefix(id, "rid-")
}

func (s *memoryCollection) tag(id string) string {
	tag, _ := s.docs[id]["_etag"].(string)
	return tag
}

func (s *memoryCollection) put(body []byte) ([]byte, error) {
	var d map[string]any
	if err := json.Unmarshal(body, &d); err != nil {
		return nil, fault.New(fault.Invalid, "no JSON")
	}
	id, _ := d["id"].(string)
	if id == "" {
		return nil, fault.New(fault.Invalid, "no id")
	}
	if s.docs[id] == nil {
		s.ids = append(s.ids, id)
	}
	s.write++
	d["_self"] = s.SelfLink() + "docs/rid-" + id + "/"
	d["_etag"] = fmt.Sprintf(`"%d"`, s.write)
	s.docs[id] = d
	return json.Marshal(d)
}

func (s *memoryCollection) Create(body []byte) ([]byte, error) {
	s.calls++
	var d struct{ ID string }
	json.Unmarshal(body, &d)
	if s.docs[d.ID] != nil {
		return nil, fault.New(fault.Exists, "taken")
	}
	return s.put(body)
}

func (s *memoryCollection) Upsert(body []byte, match string) ([]byte, error) { return s.put(body) }

func (s *memoryCollection) check(link, match string) (id string, err error) {
	id = s.id(link)
	switch {
	case s.docs[id] == nil:
		return id, fault.New(fault.NotFound, "not there")
	case match != "" && match != s.tag(id):
		return id, fault.New(fault.Precondition, "another one")
	}
	return id, nil
}

func (s *memoryCollection) Read(link, unless string) ([]byte, error) {
	id, err := s.check(link, "")
	if err != nil {
		return nil, err
	}
	if unless == s.tag(id) {
		return nil, fault.New(fault.NotModified, "same")
	}
	return json.Marshal(s.docs[id])
}

func (s *memoryCollection) Replace(link string, body []byte, match string) ([]byte, error) {
	if _, err := s.check(link, match); err != nil {
		return nil, err
	}
	return s.put(body)
}

func (s *memoryCollection) Delete(link, match string) error {
	id, err := s.check(link, match)
	if err != nil {
		return err
	}
	delete(s.docs, id)
	s.ids = slices.DeleteFunc(s.ids, func(other string) bool { return other == id })
	return nil
}

func (s *memoryCollection) Query(query []byte, size int, continuation string) (Page, error) {
	var text string
	var spec struct {
		Query      string
		Parameters []struct {
			Name  string
			Value any
		}
	}
	keep := func(map[string]any) bool { return true }
	switch err := json.Unmarshal(query, &text); {
	case err != nil:
		if err := json.Unmarshal(query, &spec); err != nil || len(spec.Parameters) != 1 {
			return Page{}, fault.New(fault.Invalid, "what is %s?", query)
		}
		keep = func(d map[string]any) bool { return d[spec.Parameters[0].Name[1:]] == spec.Parameters[0].Value }
	case text == "boom":
		return Page{}, errors.New("the disk is on fire")
	case strings.Contains(text, "isMetadata"):
		keep = func(d map[string]any) bool { return d["isMetadata"] == true }
	}
	// Like the real one, a token stays right when documents before it go.
	rows, last := []any{}, continuation
	for _, id := range s.ids {
		if n, _ := strconv.Atoi(strings.Trim(s.tag(id), `"`)); continuation != "" {
			if after, _ := strconv.Atoi(continuation); n <= after {
				continue
			}
		}
		if !keep(s.docs[id]) {
			continue
		}
		if size > 0 && len(rows) == size {
			text, err := json.Marshal(rows)
			return Page{Rows: text, Continuation: last}, err
		}
		rows, last = append(rows, s.docs[id]), strings.Trim(s.tag(id), `"`)
	}
	out, err := json.Marshal(rows)
	return Page{Rows: out}, err
}

// host is a Host over the collection.
func (s *memoryCollection) host() Host {
	return Host{
		Collection: s,
		Status: func(err error) (int, string, bool) {
			status := map[fault.Kind]int{fault.Invalid: 400, fault.NotFound: 404, fault.Exists: 409,
				fault.Precondition: 412, fault.TooLarge: 413}[fault.KindOf(err)]
			return status, fault.Message(err), status != 0
		},
		Logging: true,
	}
}

func compiled(t testing.TB, source string) *Program {
	t.Helper()
	p, err := Compile(context.Background(), "sample", source)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// call runs a procedure that must succeed, and returns its body.
func (s *memoryCollection) call(source, args string) string {
	s.t.Helper()
	r, err := compiled(s.t, source).RunProcedure(context.Background(), []byte(args), s.host())
	if err != nil {
		s.t.Fatal(err)
	}
	return string(r.Body)
}

// fails runs a procedure that must fail.
func (s *memoryCollection) fails(source, args string) error {
	s.t.Helper()
	p, err := Compile(context.Background(), "sample", source)
	if err != nil {
		return err
	}
	r, err := p.RunProcedure(context.Background(), []byte(args), s.host())
	if err == nil {
		s.t.Fatalf("it gives %s", r.Body)
	}
	return err
}
