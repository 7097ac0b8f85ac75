package copying

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// definitionOf is the definition of a container without what the service adds.
func definitionOf(read item) item {
	read.members = slices.DeleteFunc(slices.Clone(read.members), func(m member) bool {
		return strings.HasPrefix(m.name, "_") || m.name == "statistics" || m.name == "lastModified"
	})
	return read
}

// compared are the members of a definition that decide what happens to items. Others, such as a conflict resolution
// policy, belong to the service that the container is in.
var compared = []string{
	"partitionKey", "defaultTtl", "ttlPropertyPath", "indexingPolicy", "uniqueKeyPolicy", "computedProperties",
	"vectorEmbeddingPolicy", "fullTextPolicy", "analyticalStorageTtl",
}

// differences says in words in which members two definitions differ.
func differences(source, target item) (what []string) {
	for _, member := range compared {
		a, b := plain(member, source.get(member)), plain(member, target.get(member))
		if a != b {
			what = append(what, fmt.Sprintf("%s: the source has %s, the target %s", member, a, b))
		}
	}
	return what
}

// plain is a member in a form in which equal ones are the same: without what is empty, and lists sorted if their order
// means nothing.
func plain(name string, value json.RawMessage) string {
	v, ok := bare(decode(value)).(map[string]any)
	if !ok {
		return canonical(bare(decode(value)))
	}
	if name == "partitionKey" { // others say how the service hashes it
		return canonical(v["paths"])
	}
	for key, inner := range v {
		if list, ok := inner.([]any); ok {
			slices.SortFunc(list, func(a, b any) int { return strings.Compare(canonical(a), canonical(b)) })
			v[key] = list
		}
	}
	return canonical(v)
}

// bare takes out what is empty; it is nil if nothing is left.
func bare(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for key, inner := range v {
			if inner = bare(inner); inner == nil {
				delete(v, key)
			} else {
				v[key] = inner
			}
		}
		if len(v) == 0 {
			return nil
		}
	case []any:
		if len(v) == 0 {
			return nil
		}
		for i := range v {
			v[i] = bare(v[i])
		}
	}
	return v
}

func decode(raw []byte) (v any) {
	in := json.NewDecoder(bytes.NewReader(raw))
	in.UseNumber()
	if in.Decode(&v) != nil {
		return nil
	}
	return v
}

// canonical is JSON with sorted members and one form for each number.
func canonical(v any) string {
	text, err := json.Marshal(numbers(v))
	if err != nil || v == nil {
		return "nothing"
	}
	return string(text)
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if _, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return v
		}
		if f, err := v.Float64(); err == nil {
			if f == float64(int64(f)) {
				return int64(f)
			}
			return f
		}
	case map[string]any:
		for key, inner := range v {
			v[key] = numbers(inner)
		}
	case []any:
		for i, inner := range v {
			v[i] = numbers(inner)
		}
	}
	return v
}

// documentsCount reads the header x-ms-resource-usage: "…;documentsCount=7;…".
// https://learn.microsoft.com/rest/api/cosmos-db/common-cosmosdb-rest-response-headers
func documentsCount(usage string) int64 {
	for part := range strings.SplitSeq(usage, ";") {
		if text, ok := strings.CutPrefix(part, "documentsCount="); ok {
			n, _ := strconv.ParseInt(text, 10, 64) // unknown is 0
			return n
		}
	}
	return 0
}
