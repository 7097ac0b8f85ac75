package pipeline

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/expression"
	"github.com/mayflydb/mayfly/internal/mongo/filter"
	"github.com/mayflydb/mayfly/internal/storytest"
)

// TestStories runs the cases of testdata, a file for each stage. A block "container NAME" has that container's
// documents below it. Another block is a case: what is asked, and the rows or an error. Asked is one of
//
//	[stage, ...]            a pipeline over the container c
//	update [stage, ...]     the same, of an update, document by document
//	find QUERY PROJECTION   a projection of the documents of c that match
//	sort SPEC               the documents of c in an order
//	prefix [stage, ...]     what a planner may do before the pipeline
//	order [stage, ...]      the order in which the stages run
//
// Containers that a pipeline writes come behind the rows, after "= NAME". Names of members need no quotes; otherwise it
// is extended JSON.
func TestStories(t *testing.T) {
	storytest.Run(t, "testdata/*.txt", storytest.Blocks, func() storytest.Answer {
		containers := map[string][]doc.Doc{}
		return func(t *testing.T, given string) (string, bool) {
			name, ok := strings.CutPrefix(given, "container ")
			if !ok {
				return strings.Join(answer(t, given, containers), "\n"), true
			}
			name, rows, _ := strings.Cut(name, "\n")
			containers[name] = nil
			for line := range strings.Lines(rows) {
				containers[name] = append(containers[name], document(t, line))
			}
			return "", false
		}
	})
}

func answer(t *testing.T, asked string, containers map[string][]doc.Doc) []string {
	verb, rest, _ := strings.Cut(asked, " ")
	switch verb {
	case "update":
		return answerUpdate(t, rest, containers["c"])
	case "find":
		return answerFind(t, rest, containers["c"])
	case "sort":
		s, err := CompileSort(document(t, rest))
		if err != nil {
			return []string{describeError(err)}
		}
		return lines(t, s.Rows(rowsOf(containers["c"]), 0))
	case "prefix":
		return answerPrefix(t, rest)
	case "order":
		return answerOrder(t, rest, containers)
	}
	return answerPipeline(t, asked, containers)
}

// answerPipeline compares the rows with those of the same pipeline in other ways.
func answerPipeline(t *testing.T, asked string, containers map[string][]doc.Doc) []string {
	first := aggregate(t, asked, containers, true, false, false)
	for _, otherwise := range []struct {
		name                     string
		indexes, prefix, asGiven bool
	}{
		{"without indexes", false, false, false}, {"by its prefix", true, true, false},
		{"in the order given", true, false, true},
	} {
		again := aggregate(t, asked, containers, otherwise.indexes, otherwise.prefix, otherwise.asGiven)
		if !slices.Equal(first, again) {
			t.Errorf("%s\ngives\n%s\nand %s\n%s", asked, strings.Join(first, "\n"), otherwise.name,
				strings.Join(again, "\n"))
		}
	}
	return first
}

func aggregate(t *testing.T, asked string, containers map[string][]doc.Doc, indexes, byPrefix, asGiven bool) []string {
	m := &memory{containers: maps.Clone(containers), indexes: indexes}
	names, slot := expression.NewNames().With("given")
	p, err := Compile(stagesOf(t, asked), Options{Names: names, asGiven: asGiven})
	if err != nil {
		return []string{describeError(err)}
	}
	env := m.env()
	env.Vars = make([]doc.Value, slot+1)
	env.Vars[slot] = doc.String("from the command")
	in := rowsOf(m.containers["c"])
	if byPrefix {
		in, p = prefixed(p, in, env)
	}
	all := lines(t, p.Run(context.Background(), in, env))
	for _, name := range m.wrote {
		all = append(all, "= "+name)
		all = append(all, lines(t, rowsOf(m.containers[name]))...)
	}
	return all
}

// prefixed does what the first stages ask as a planner would.
func prefixed(p *Pipeline, in Rows, env *Env) (Rows, *Pipeline) {
	prefix := p.Prefix()
	r := newRun(context.Background(), env, p.names)
	if prefix.Match != nil {
		in = r.through(in, []mapFunc{(&match{filter: prefix.Match}).mapper(r)})
	}
	if prefix.Sort != nil {
		in = prefix.Sort.Rows(in, 0)
	}
	in = (&skip{prefix.Skip}).rows(r, in)
	switch {
	case prefix.Limit == 0:
		in = empty
	case prefix.Limit > 0:
		in = (&limitStage{prefix.Limit}).rows(r, in)
	}
	return in, prefix.Rest
}

func answerUpdate(t *testing.T, asked string, in []doc.Doc) (all []string) {
	p, err := Compile(stagesOf(t, asked), Options{UpdateOnly: true})
	if err != nil {
		return []string{describeError(err)}
	}
	change, err := p.Each(context.Background(), &Env{Now: now})
	if err != nil {
		return []string{describeError(err)}
	}
	for _, d := range in {
		out, _, err := change(d)
		if err != nil {
			return append(all, describeError(err))
		}
		all = append(all, lines(t, rowsOf([]doc.Doc{out}))...)
	}
	return all
}

func answerFind(t *testing.T, asked string, in []doc.Doc) (all []string) {
	query, projection, _ := strings.Cut(asked, "} {")
	f, err := filter.Compile(document(t, query+"}"), filter.Options{})
	if err != nil {
		return []string{describeError(err)}
	}
	p, err := CompileProjection(document(t, "{"+projection), ProjectionOptions{Find: true, Filter: f})
	if err != nil {
		return []string{describeError(err)}
	}
	scope := &expression.Scope{Now: now}
	for _, d := range in {
		scope.Reset(doc.Object(d))
		ok, where, err := f.Locate(d, scope)
		if err != nil || !ok {
			continue
		}
		out, err := p.Apply(nil, d, where, scope)
		if err != nil {
			return append(all, describeError(err))
		}
		all = append(all, lines(t, rowsOf([]doc.Doc{out}))...)
	}
	return all
}

func answerPrefix(t *testing.T, asked string) []string {
	prefix := compile(t, asked).Prefix()
	all := []string{"query " + string(appendValue(nil, doc.Object(prefix.Query)))}
	if prefix.Sort != nil {
		all = append(all, "sort "+string(appendValue(nil, doc.Object(prefix.Sort.Spec()))))
	}
	if prefix.Skip > 0 {
		all = append(all, fmt.Sprint("skip ", prefix.Skip))
	}
	if prefix.Limit >= 0 {
		all = append(all, fmt.Sprint("limit ", prefix.Limit))
	}
	for _, spec := range prefix.Rest.Stages() {
		all = append(all, "rest "+string(appendValue(nil, doc.Object(spec))))
	}
	return all
}

// answerOrder lists the stages as they run. Their rows are those of the order given.
func answerOrder(t *testing.T, asked string, containers map[string][]doc.Doc) (all []string) {
	answerPipeline(t, asked, containers)
	for _, spec := range compile(t, asked).Stages() {
		all = append(all, string(appendValue(nil, doc.Object(spec))))
	}
	return all
}

// TestEveryStageHasAStory looks for testdata/<stage>.txt.
func TestEveryStageHasAStory(t *testing.T) {
	all := Names()
	for name := range accumulators {
		all = append(all, name)
	}
	for _, name := range all {
		if isRefused(name) || isServerStage(name) {
			continue // in refused.txt and source.txt
		}
		file := "testdata/" + strings.TrimPrefix(name, "$") + ".txt"
		if accumulators[name] != nil && parsers[name] == nil {
			file = "testdata/accumulator_" + strings.TrimPrefix(name, "$") + ".txt"
		}
		if _, err := os.Stat(file); err != nil {
			t.Errorf("%s has no story", name)
		}
	}
}
