package exec

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
)

// A textMemo keeps one text.
type textMemo struct {
	text        []byte
	given, kept int // how often Text has given one, and Keep was called
}

func (m *textMemo) Text() []byte {
	if m.text != nil {
		m.given++
	}
	return m.text
}

func (m *textMemo) Keep(text []byte) {
	m.text = bytes.Clone(text)
	m.kept++
}

// TestMemo asks for documents that the store keeps in memory, some with a memo and some without. Rows are as without
// any, the JSON of each document is made once, and no document changes, though sorts reuse the memory of copies.
func TestMemo(t *testing.T) {
	const count = 30
	var texts []string
	for i := range count {
		texts = append(texts, fmt.Sprintf(`{"id":"%d","pk":"p","n":%d,"text":"a \"quoted\" %d"}`, i, i*7%count, i))
	}
	plain, s := newSource(t, texts...), newSource(t, texts...)
	var memos []*textMemo
	for i := range s.docs {
		if i%3 > 0 {
			memos = append(memos, &textMemo{})
			s.docs[i].Memo = memos[len(memos)-1]
		}
	}
	for _, query := range []string{
		"SELECT * FROM c",
		"SELECT VALUE c FROM c",
		"SELECT TOP 7 * FROM c ORDER BY c.n",
		"SELECT * FROM c ORDER BY c.n DESC OFFSET 2 LIMIT 11",
		`SELECT c AS whole, c.id FROM c WHERE c.n < 20`,
		"SELECT VALUE [c.n, c] FROM c",
		"SELECT c.n, c.text FROM c ORDER BY c.n",
		"SELECT DISTINCT VALUE c FROM c",
	} {
		for _, limit := range []Limit{{}, {Rows: 4}, {Bytes: 300}} {
			want, err := asking{query: query, noIndex: true, limit: limit}.all(t, plain)
			if err != nil {
				t.Fatal(err)
			}
			got, err := asking{query: query, noIndex: true, limit: limit}.all(t, s)
			if err != nil || got != want {
				t.Fatalf("%s: %v\n got %s\nwant %s", query, err, got, want)
			}
		}
	}
	for i, m := range memos {
		if m.given == 0 || m.kept != 1 || !strings.HasPrefix(string(m.text), `{"id":`) ||
			!strings.Contains(string(m.text), `"_ts":`) {
			t.Errorf("memo %d was given %d texts, and has given %q %d times", i, m.kept, m.text, m.given)
		}
	}
	for i := range s.docs {
		if !bytes.Equal(s.docs[i].Body, plain.docs[i].Body) {
			t.Errorf("document %d has changed", i)
		}
	}
}

// TestTextsAreWanted checks that a query asks for texts only where the documents of an exact access are written whole,
// as they come.
func TestTextsAreWanted(t *testing.T) {
	for query, want := range map[string]bool{
		"SELECT * FROM c":                                    true,
		"SELECT VALUE c FROM c":                              true,
		`SELECT * FROM c WHERE c.n = 1`:                      true, // by the index
		"SELECT c FROM c":                                    true,
		`SELECT VALUE [c.n, {"whole": c}] FROM c`:            true,
		"SELECT DISTINCT VALUE c FROM c":                     false,
		"SELECT VALUE x.n FROM (SELECT VALUE c FROM c) AS x": false,
		"SELECT c.n FROM c":                                  false,
		`SELECT * FROM c WHERE c.n % 2 = 1`:                  false,
		"SELECT VALUE COUNT(c.n + 1) FROM c":                 false,
	} {
		s := newSource(t, `{"id":"1","pk":"p","n":1,"text":"a"}`)
		if _, err := (asking{query: query}).all(t, s); err != nil {
			t.Fatalf("%s: %v", query, err)
		}
		if s.texts != want {
			t.Errorf("%s: texts wanted: %v", query, s.texts)
		}
	}
}
