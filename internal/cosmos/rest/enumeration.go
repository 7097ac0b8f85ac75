package rest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// An enumeration is a request header whose value is one of some words, in any case, or the number of one, as
// the service reads them: Azure/azure-cosmos-dotnet-v3: Microsoft.Azure.Cosmos/src/direct/TransportSerialization.cs.
type enumeration struct {
	header requestHeader
	name   string
	words  []string
}

// enumerations are those that have no other effect than to be checked.
var enumerations = []enumeration{
	{"X-Ms-Indexing-Directive", "IndexingDirective", []string{"Default", "Include", "Exclude"}},
	{"X-Ms-Documentdb-Content-Serialization-Format", "ContentSerializationFormat", []string{"JsonText", "CosmosBinary", "HybridRow"}},
	{"X-Ms-Read-Key-Type", "ReadFeedKeyType", []string{"ResourceId", "EffectivePartitionKey", "EffectivePartitionKeyRange"}},
	{"X-Ms-Cosmos-Priority-Level", "PriorityLevel", []string{"High", "Low"}},
	{"X-Ms-Enumeration-Direction", "EnumerationDirection", []string{"Forward"}}, // feeds go forward only
}

// checkWords refuses a word that a header does not know.
func (e *exchange) checkWords() error {
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
