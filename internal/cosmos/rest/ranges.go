package rest

import (
	"bytes"
	"encoding/hex"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/fault"
	"github.com/mayflydb/mayfly/internal/store"
)

// maxEPK is the longest effective partition key in a header, in characters.
const maxEPK = 1024

// A selection is the part of a container that the headers of a feed or a query select.
type selection struct {
	scope  access.Scope    // nil is the whole container
	ranges []catalog.Range // that have documents of it, in order of their keys; at least one
	named  bool            // by the id of a range or an interval of keys: the client merges it with others

	// Of what continues a feed: the scope that its tokens are signed with, and those that they may be signed with
	// instead. See resume.
	token    access.Scope
	former   []access.Scope
	byNumber bool // positions are those of a feed over the whole container
}

// nowhere selects no documents: no effective partition key is that high.
var nowhere = &access.Span{Low: []byte{0xFF}, High: []byte{0xFF}}

// selected is the part of a container that the headers name: a partition, all partitions under a prefix, a range of
// the container, an interval of effective partition keys, or what several of these have in common. A partition is
// selected as a whole, whatever interval comes with it.
func (e *exchange) selected(st *catalog.State) (s selection, err error) {
	named, ok, err := e.namedRange(st)
	if err != nil {
		return s, err
	}
	partition, limited, err := feedPartition(e, st)
	if err != nil {
		return s, err
	}
	low, err := parseEPK(e.given(hStartEPK))
	if err != nil {
		return s, err
	}
	high, err := parseEPK(e.given(hEndEPK))
	if err != nil {
		return s, err
	}
	switch {
	case limited:
		s = partitionSelection(st, partition)
	case ok:
		s = spanSelection(st, higher(low, named.Low), lower(high, named.High))
	default:
		s = spanSelection(st, low, high)
	}
	if ok {
		if limited && !owns(st, named.Number, partition) {
			return s, e.rangeGone(strconv.Itoa(int(named.Number)))
		}
		s.ranges = []catalog.Range{named}
	}
	s.named = ok || len(low) > 0 || len(high) > 0
	if s.token = s.scope; ok && !limited {
		s.former = formerScopes(st, &named, low, high)
	}
	e.serve(s.ranges[0].Number)
	return s, nil
}

// formerScopes are the scopes that a request for a range had while the range was a part of another one that was split
// since, within the interval of the headers and without them, with which clients narrow what a token is good for.
func formerScopes(st *catalog.State, r *catalog.Range, low, high []byte) (list []access.Scope) {
	for _, parent := range slices.Backward(r.Parents) {
		var whole catalog.Range
		for i := range st.Ranges() { // in order of their keys
			if part := &st.Ranges()[i]; part.Descends(parent) {
				if whole.High == nil {
					whole.Low = part.Low
				}
				whole.High = part.High
			}
		}
		list = append(list, spanSelection(st, higher(low, whole.Low), lower(high, whole.High)).scope)
		if len(low) > 0 || len(high) > 0 {
			list = append(list, spanSelection(st, whole.Low, whole.High).scope)
		}
	}
	return list
}

// resume reads a continuation token. Where the selection is a range, the token may be that of a range that it was a
// part of: SDKs pass it on to each of those that a range was split into. The feed goes on in the order that the token
// began with, which for the only range of a container is that of numbers.
func (s *selection) resume(text string, c *catalog.Container, query ...string) (access.Position, error) {
	at, err := parseContinuation(text, c, s.scope, query...)
	if err == nil {
		return at, nil
	}
	for _, scope := range s.former {
		if at, err := parseContinuation(text, c, scope, query...); err == nil {
			s.token, s.byNumber = scope, scope == nil
			return at, nil
		}
	}
	return nil, err
}

// inOrder is what a feed over the selection visits, in the order of its tokens.
func (s *selection) inOrder(of access.Selection) access.Selection {
	if span, ok := of.(*access.Span); ok && s.byNumber {
		return &access.Filter{Scope: span}
	}
	return of
}

// owns reports whether a range has a partition, or all those under a prefix. Clients send an operation to the range
// that has its effective partition key as they hash it: for a -0.0 that may be another range than that of 0, which
// the item is in, and what is parsed here is 0.
func owns(st *catalog.State, number uint16, partition []doc.Value) bool {
	if st.RangeOf(partition) == number {
		return true
	}
	if len(partition) == 0 || doc.IsUndefined(partition[0]) {
		return false
	}
	if f, ok := doc.AsFloat(partition[0]); !ok || f != 0 { // no range ends within a first component
		return false
	}
	hashed := append([]doc.Value{doc.Double(math.Copysign(0, -1))}, partition[1:]...)
	return st.RangeOfForm(store.EffectivePartitionKey(st, hashed)) == number
}

// partitionSelection selects a partition, or all partitions under a prefix.
func partitionSelection(st *catalog.State, partition access.Partition) selection {
	owner, _ := st.RangeNumbered(st.RangeOf(partition))
	return selection{scope: partition, ranges: []catalog.Range{owner}}
}

// spanSelection selects an interval of effective partition keys. Empty bounds are open.
func spanSelection(st *catalog.State, low, high []byte) selection {
	span := &access.Span{Low: low, High: high}
	open := len(high) == 0 || high[0] == 0xFF
	switch {
	case len(low) == 0 && open || isMongo(st) && holdsMongo(st, span):
		return selection{ranges: st.Ranges()}
	case !open && bytes.Compare(low, high) >= 0:
		return selection{scope: nowhere, ranges: st.RangesIn(low, nil)[:1]}
	}
	return selection{scope: span, ranges: st.RangesIn(low, high)}
}

// higher is the higher one of two lower bounds.
func higher(a, b []byte) []byte {
	if bytes.Compare(a, b) > 0 {
		return a
	}
	return b
}

// lower is the lower one of two upper bounds. An empty bound is open.
func lower(a, b []byte) []byte {
	if len(b) == 0 || len(a) > 0 && bytes.Compare(a, b) < 0 {
		return a
	}
	return b
}

// parseEPK parses an effective partition key. "" leaves its end of the range open.
func parseEPK(text string) ([]byte, error) {
	epk, err := hex.DecodeString(text)
	if err != nil || len(text) > maxEPK {
		return nil, fault.New(fault.Invalid,
			"The effective partition key '%s' is invalid. Send an even number of hexadecimal digits, "+
				"at most %d.", clip(text), maxEPK)
	}
	return epk, nil
}

// namedRange is the range whose id is in the header. Clients may put the container's RID and a comma before the id
// (Microsoft.Azure.Documents.PartitionKeyRangeIdentity.FromHeader). ok is false without the header.
func (e *exchange) namedRange(st *catalog.State) (r catalog.Range, ok bool, err error) {
	text := strings.TrimSpace(e.given(hRangeID))
	id := text
	if owner, rest, ok := strings.Cut(text, ","); ok {
		if have := containerRID(e.container).String(); owner != have {
			return r, false, otherContainer(have, owner)
		}
		id = strings.TrimSpace(rest)
	}
	if id == "" {
		return r, false, nil
	}
	if strings.Contains(id, ",") {
		return r, false, fault.New(fault.Invalid, "x-ms-documentdb-partitionkeyrangeid header contains invalid value "+
			"'%s'. Send the id of one range.", clip(text))
	}
	number, err := strconv.ParseUint(id, 10, 16)
	if err == nil && strconv.FormatUint(number, 10) == id {
		if r, ok = st.RangeNumbered(uint16(number)); ok {
			return r, true, nil
		}
	}
	return r, false, e.rangeGone(id)
}

// A rangeGone is the error of a request to a range that the container does not have. The service does not distinguish
// ranges that were split from those that never were, and neither do SDKs: they read the list of ranges again, and
// repeat the request (AddressResolver.HandleRangeAddressResolutionFailure in Azure/azure-cosmos-dotnet-v3; the text is
// RMResources.PartitionKeyRangeNotFound).
type rangeGone struct{ error }

func (g rangeGone) Unwrap() error { return g.error }

func (e *exchange) rangeGone(id string) error {
	return rangeGone{gatewayFault(fault.Invalid, "PartitionKeyRange with id '%s' in collection '%s' doesn't exist. "+
		"Read the container's partition key ranges again.", clip(id), containerRID(e.container))}
}

// serve sets the range that the answer tells about: in its session token, its LSN and its range id. A token tells
// about one range only, because the SDK for Java parses nothing else (SessionContainer.setSessionToken in
// Azure/azure-sdk-for-java). Without it, that is the container's first range.
func (e *exchange) serve(number uint16) { e.served, e.serves = number, true }

// servedRange is the number of the range that the answer tells about.
func (e *exchange) servedRange() uint16 {
	if e.serves || e.container == nil {
		return e.served
	}
	return e.container.State().Ranges()[0].Number
}
