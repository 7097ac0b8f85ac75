package exec

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mayflydb/mayfly/internal/cosmos/sql/syntax"
	"github.com/mayflydb/mayfly/internal/doc"
)

var testNow = time.Date(2026, 10, 1, 12, 0, 0, 0, time.UTC)

// An asking is a query and the options of its execution.
type asking struct {
	query      string
	parameters map[string]string
	noIndex    bool
	limit      Limit
}

func (a asking) environment(t testing.TB, s *sliceSource) Environment {
	env := Environment{Schema: s.schema, NoIndex: a.noIndex, Now: testNow, Parameters: map[string]doc.Value{}}
	for name, text := range a.parameters {
		env.Parameters[name] = mustValue(t, text)
	}
	return env
}

// page runs one page.
func (a asking) page(t testing.TB, s *sliceSource, token []byte) (string, Page, error) {
	t.Helper()
	tree, err := syntax.Parse(a.query)
	if err != nil {
		return "", Page{}, err
	}
	q, err := Prepare(tree, a.environment(t, s), token)
	if err != nil {
		return "", Page{}, err
	}
	out, page, err := q.Run(context.Background(), s, a.limit, nil)
	if err == nil && q.Release() && a.limit.Hold == nil && a.limit.Stop == nil && a.limit.Memory == 0 {
		source := *s // the second run counts for nothing
		again, next, err := q.Run(context.Background(), &source, a.limit, nil)
		if string(again) != string(out) || err != nil || string(next.Next) != string(page.Next) {
			t.Errorf("%s: the second run gives %s, %v; the first gave %s", a.query, again,
				err, out)
		}
	}
	return string(out), page, err
}

// all runs all pages and joins them.
func (a asking) all(t testing.TB, s *sliceSource) (string, error) {
	t.Helper()
	var rows []string
	var token []byte
	for pages := 0; ; pages++ {
		out, page, err := a.page(t, s, token)
		if err != nil {
			return "", err
		}
		if out != "" {
			rows = append(rows, out)
		}
		if page.Next == nil {
			return strings.Join(rows, ","), nil
		}
		if pages > 5000 {
			t.Fatalf("%s: no end of pages", a.query)
		}
		token = page.Next
	}
}
