package rest

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/catalog"
)

// A feedPlace is where a reader of the change feed stands in one range: behind a sequence of its writes.
type feedPlace struct {
	number uint16 // of the range
	after  uint64
}

// maxPlaces is how many ranges an ETag of a change feed may tell about: as many as a container can have in its life.
const maxPlaces = 4096

// The ETag of a change feed over one range is a sequence alone, "5", as in the cloud: the connector for Spark parses
// it as a number, compares it with the `_lsn` of items, and makes ETags of numbers
// (SparkBridgeImplementationInternal.toLsn and toContinuationToken in Azure/azure-sdk-for-java). So it cannot name its
// range, and that of another range is accepted (D-89); SDKs keep one for each. Over several ranges it has a sequence
// for each, "0:5,1:7", and the range that the next page begins with comes first. A sequence alone is good for several
// ranges only if they come from one that was split: theirs go on from there. Anywhere else it would hide writes of
// other ranges.

// quotePlaces is the ETag for the places of a feed.
func quotePlaces(places []feedPlace) string {
	b := []byte{'"'}
	for i, p := range places {
		if i > 0 {
			b = append(b, ',')
		}
		if len(places) > 1 {
			b = append(strconv.AppendUint(b, uint64(p.number), 10), ':')
		}
		b = strconv.AppendUint(b, p.after, 10)
	}
	return string(append(b, '"'))
}

// parsePlaces parses the output of quotePlaces for a feed over ranges, in the order in which to read them. The ETag
// may tell about other ranges as well. Proxies and clients may have removed the quotes.
func parsePlaces(text string, ranges []catalog.Range) ([]feedPlace, error) {
	list := strings.Trim(strings.TrimPrefix(text, "W/"), `"`)
	if after, err := strconv.ParseUint(list, 10, 64); err == nil {
		if after > 0 && !related(ranges) {
			return nil, wrongPlace(text)
		}
		places := make([]feedPlace, len(ranges))
		for i := range ranges {
			places[i] = feedPlace{ranges[i].Number, after}
		}
		return places, nil
	}
	var told []feedPlace
	for part := range strings.SplitSeq(list, ",") {
		id, sequence, _ := strings.Cut(part, ":")
		number, err := strconv.ParseUint(id, 10, 16)
		if err != nil {
			return nil, wrongPlace(text)
		}
		after, err := strconv.ParseUint(sequence, 10, 64)
		if err != nil || len(told) == maxPlaces {
			return nil, wrongPlace(text)
		}
		told = append(told, feedPlace{uint16(number), after})
	}
	// The place of a range in the ETag is that of the range itself, or of one that was split into it.
	type found struct {
		feedPlace
		at int
	}
	var places []found
	for i := range ranges {
		at := -1
		for _, number := range append(slices.Clone(ranges[i].Parents), ranges[i].Number) { // the newest one is last
			if told := slices.IndexFunc(told, func(p feedPlace) bool { return p.number == number }); told >= 0 {
				at = told
			}
		}
		if at < 0 {
			return nil, wrongPlace(text)
		}
		places = append(places, found{feedPlace{ranges[i].Number, told[at].after}, at})
	}
	slices.SortStableFunc(places, func(a, b found) int { return a.at - b.at })
	out := make([]feedPlace, len(places))
	for i := range places {
		out[i] = places[i].feedPlace
	}
	return out, nil
}

// related reports whether ranges are one, or were split from one.
func related(ranges []catalog.Range) bool {
	for _, number := range append(slices.Clone(ranges[0].Parents), ranges[0].Number) {
		stranger := func(r catalog.Range) bool { return r.Number != number && !slices.Contains(r.Parents, number) }
		if !slices.ContainsFunc(ranges, stranger) {
			return true
		}
	}
	return false
}

func wrongPlace(text string) error {
	return badHeader(text, hIfNoneMatch, "Send the ETag of the last answer of the change feed, or * to begin now.")
}
