package rest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// An enumeration is a request header with a fixed set of words, in any letter case. The service also accepts the
// index of a word: Azure/azure-cosmos-dotnet-v3: Microsoft.Azure.Cosmos/src/direct/TransportSerialization.cs.
type enumeration struct {
	header requestHeader
	name   string
	words  []string
}

// enumerations are headers that are checked and have no other effect.
var enumerations = []enumeration{
	{"X-Ms-Indexing-Directive", "IndexingDirective", []string{"Default", "Include", "Exclude"}},
	{"X-Ms-Documentdb-Content-Serialization-Format", "ContentSerializationFormat", []string{"JsonText",
		"CosmosBinary", "HybridRow"}},
	{"X-Ms-Read-Key-Type", "ReadFeedKeyType", []string{"ResourceId", "EffectivePartitionKey",
		"EffectivePartitionKeyRange"}},
	{"X-Ms-Cosmos-Priority-Level", "PriorityLevel", []string{"High", "Low"}},
	{"X-Ms-Enumeration-Direction", "EnumerationDirection", []string{"Forward"}}, // feeds go forward only
}

// checkEnumerations rejects headers with an unknown word.
func (e *exchange) checkEnumerations() error {
	for i := range enumerations {
		x := &enumerations[i]
		text := strings.TrimSpace(e.given(x.header))
		if text == "" || slices.ContainsFunc(x.words, func(word string) bool { return strings.EqualFold(word, text) }) {
			continue
		}
		if n, err := strconv.Atoi(text); err == nil && n >= 0 && n < len(x.words) {
			continue
		}
		return fault.New(fault.Invalid, "Invalid value %s passed for enum %s. Send one of %s in the header %s.",
			clip(text), x.name, strings.Join(x.words, ", "), strings.ToLower(string(x.header)))
	}
	return nil
}
