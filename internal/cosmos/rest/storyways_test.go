package rest_test

import (
	"strconv"
	"strings"
)

// A writing is a way in which a ttl gets into an item. It begins with an item a in its own partition, and ends with
// one that is a or b.
type writing struct {
	name   string
	target string // which of them gets the value
	before string // the step that makes the item, if there must be one
	step   string // VALUE stands for the value
}

var writings = []writing{
	{"create", "w/b", "", "create w/b ttl=VALUE"},
	{"upsert", "w/b", "", "upsert w/b ttl=VALUE"},
	{"upsert over", "w/a", "create w/a", "upsert w/a ttl=VALUE"},
	{"replace", "w/a", "create w/a", "replace w/a ttl=VALUE"},
	{"patch set", "w/a", "create w/a", "patch w/a set /ttl VALUE"},
	{"patch add", "w/a", "create w/a", "patch w/a add /ttl VALUE"},
	{"patch replace", "w/a", "create w/a ttl=7", "patch w/a replace /ttl VALUE"},
	{"patch move", "w/a", "create w/a x=VALUE", "patch w/a move /x /ttl"},
	{"batch create", "w/b", "", "batch create w/b ttl=VALUE"},
	{"batch upsert", "w/b", "", "batch upsert w/b ttl=VALUE"},
	{"batch upsert over", "w/a", "create w/a", "batch upsert w/a ttl=VALUE"},
	{"batch replace", "w/a", "create w/a", "batch replace w/a ttl=VALUE"},
	{"batch patch", "w/a", "create w/a", "batch patch w/a set /ttl VALUE"},
	{"bulk create", "w/b", "", "bulk create w/b ttl=VALUE"},
	{"bulk upsert", "w/b", "", "bulk upsert w/b ttl=VALUE"},
	{"bulk replace", "w/a", "create w/a", "bulk replace w/a ttl=VALUE"},
	{"bulk patch", "w/a", "create w/a", "bulk patch w/a set /ttl VALUE"},
}

// everyWay sets ttl in every way, `every way ttl=5`, and prints the outcome of each. It removes all items afterwards.
func (w *storyRunner) everyWay(args string) string {
	w.t.Helper()
	value, ok := strings.CutPrefix(args, "way ttl=")
	if !ok {
		w.t.Fatalf("every %s?", args)
	}
	known := w.items
	outcomes := map[string][]string{}
	var order []string
	for _, x := range writings {
		w.items = nil
		outcome := w.writeOneWay(x, value)
		if outcomes[outcome] == nil {
			order = append(order, outcome)
		}
		outcomes[outcome] = append(outcomes[outcome], x.name)
	}
	w.items = known
	if len(order) == 1 {
		return order[0]
	}
	said := ""
	for _, outcome := range order {
		said += "\n  " + strings.Join(outcomes[outcome], ", ") + ": " + outcome
	}
	return said
}

// writeOneWay tries one way and checks the result: a rejected write must not change anything.
func (w *storyRunner) writeOneWay(x writing, value string) string {
	w.t.Helper()
	do := func(step string) string { return w.do(strings.ReplaceAll(step, "VALUE", value)) }
	before := "404"
	if x.before != "" {
		do(x.before)
		before = do("read " + x.target)
	}
	said := do(x.step)
	after := do("read " + x.target)
	if after != "404" {
		if got := do("delete " + x.target); got != "204" {
			w.t.Errorf("%s: deleting answers %s", x.name, got)
		}
	}
	refusal := rejected(said)
	switch {
	case refusal == "" && after == before:
		return "nothing happened: " + said
	case refusal == "":
		return "accepted, read: " + after
	case after != before:
		return "refused but changed: " + said + ", read: " + after
	}
	return refusal
}

// rejected is the 400 in the words of a write, of a batch or bulk request too.
func rejected(said string) string {
	said = strings.TrimPrefix(strings.TrimPrefix(said, "207 "), "200 ")
	said = strings.TrimSuffix(strings.TrimPrefix(said, "["), "]")
	if status, _, _ := strings.Cut(said, " "); status == strconv.Itoa(400) {
		return said
	}
	return ""
}
