package rest_test

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// container creates the container, with `ttl=60 property=/at indexing=none unique=/email throughput=400`.
func (w *storyRunner) container(args string) string {
	header := map[string]string{}
	return w.defined(w.ask("POST", "/dbs/d/colls", w.definitionOf(args, header), header))
}

// change replaces its definition.
func (w *storyRunner) change(args string) string {
	header := map[string]string{}
	return w.defined(w.ask("PUT", storyContainer, w.definitionOf(args, header), header))
}

// definition reads it. Its ETag may change by a change only.
func (w *storyRunner) definition(string) string {
	w.t.Helper()
	a := w.ask("GET", storyContainer, "", nil)
	if etag := a.header.Get("etag"); etag != w.version {
		w.t.Errorf("the container's ETag was %s and is %s", w.version, etag)
	}
	return w.sayDefinition(a)
}

func (w *storyRunner) defined(a answer) string {
	if a.status == 200 || a.status == 201 {
		w.version = a.header.Get("etag")
		var c struct {
			Self string `json:"_self"`
		}
		must(w.t, json.Unmarshal(a.body, &c))
		w.self = "/" + c.Self
	}
	said := w.sayDefinition(a)
	if effect, ok := strings.CutSuffix(a.header.Get("x-mayfly-ttl-effect"), " by this change"); ok &&
		!strings.HasPrefix(effect, "0 ") {
		said += ", " + effect
	}
	if hint, _, _ := strings.Cut(a.header.Get("x-mayfly-hint"), ". "); hint != "" {
		said += ", hint: " + hint
	}
	return said
}

func (w *storyRunner) definitionOf(args string, header map[string]string) string {
	w.t.Helper()
	parts := []string{`"id":"c"`, `"partitionKey":{"paths":["/pk"],"kind":"Hash","version":2}`}
	for _, field := range strings.Fields(args) {
		name, value, _ := strings.Cut(field, "=")
		switch name {
		case "off":
		case "ttl":
			parts = append(parts, `"defaultTtl":`+value)
		case "property":
			parts = append(parts, `"ttlPropertyPath":"`+value+`"`)
		case "indexing":
			parts = append(parts, fmt.Sprintf(`"indexingPolicy":{"indexingMode":%q,"automatic":%t}`, value,
				value != "none"))
		case "unique":
			w.unique = `"uniqueKeyPolicy":{"uniqueKeys":[{"paths":["` + value + `"]}]}`
		case "throughput":
			header["x-ms-offer-throughput"] = value
		default:
			w.t.Fatalf("a container has no %q", field)
		}
	}
	if w.unique != "" {
		parts = append(parts, w.unique)
	}
	return "{" + strings.Join(parts, ",") + "}"
}

func (w *storyRunner) sayDefinition(a answer) string {
	if a.status != 200 && a.status != 201 {
		return failure(a)
	}
	var d struct {
		DefaultTTL      json.RawMessage                        `json:"defaultTtl"`
		TTLPropertyPath string                                 `json:"ttlPropertyPath"`
		IndexingPolicy  struct{ IndexingMode string }          `json:"indexingPolicy"`
		UniqueKeyPolicy struct{ UniqueKeys []json.RawMessage } `json:"uniqueKeyPolicy"`
	}
	must(w.t, json.Unmarshal(a.body, &d))
	said := strconv.Itoa(a.status) + " off"
	if d.DefaultTTL != nil {
		said = strconv.Itoa(a.status) + " defaultTtl " + string(d.DefaultTTL)
	}
	if d.TTLPropertyPath != "" {
		said += ", ttlPropertyPath " + d.TTLPropertyPath
	}
	if mode := d.IndexingPolicy.IndexingMode; mode != "consistent" {
		said += ", indexing " + mode
	}
	return said
}
