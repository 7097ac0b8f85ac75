package rest

import (
	"cmp"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
)

// firstRange is the number in the RID of the range with the id 0. The RIDs of the next ones follow it: recorded of a
// hosted account, Azure/azure-sdk-for-js: sdk/cosmosdb/cosmos/test, readPartitionKeyRangesResponse.
const firstRange = 2

// listRanges answers the feed of partition key ranges, in order of their numbers. SDKs read it as a change feed: with
// the ETag of the previous answer, until they get 304. All ranges are in one page.
func listRanges(e *exchange) (int, error) {
	if err := e.checkFeedMode(); err != nil {
		return 0, err
	}
	st := e.container.State()
	ranges := slices.SortedFunc(slices.Values(st.Ranges()),
		func(a, b catalog.Range) int { return cmp.Compare(a.Number, b.Number) })
	// Every new range has a higher number than those before it.
	etag := fmt.Sprintf(`"%d-%d"`, e.container.ID, ranges[len(ranges)-1].Number)
	e.set(outETag, etag)
	if strings.TrimPrefix(strings.TrimSpace(e.given(hIfNoneMatch)), "W/") == etag {
		return http.StatusNotModified, nil
	}
	e.openFeed(containerRID(e.container), "PartitionKeyRanges")
	for i := range ranges {
		if i > 0 {
			e.reply = append(e.reply, ',')
		}
		e.feed.numbers = append(e.feed.numbers, uint64(ranges[i].Number)+firstRange)
		if err := e.appendRange(st, &ranges[i]); err != nil {
			return 0, err
		}
	}
	e.closeFeed(len(ranges))
	return http.StatusOK, nil
}

// appendRange appends one row of the feed. Each range has an equal share of the throughput.
func (e *exchange) appendRange(st *catalog.State, r *catalog.Range) error {
	newest, err := e.api.store.Sequence(e.Context(), e.container, r.Number)
	if err != nil {
		return err
	}
	owner, id := containerRID(e.container), rangeRID.in(e.container, uint64(r.Number)+firstRange)
	b := append(e.reply, `{"_rid":"`...)
	b = append(id.append(b), `","id":"`...)
	b = append(strconv.AppendUint(b, uint64(r.Number), 10), '"')
	b = appendETagMember(b, access.Version{Sequence: uint64(e.container.ID), Stamp: st.Stamp})
	b = fmt.Appendf(b, `,"minInclusive":"%X","maxExclusive":"%X","ridPrefix":%d`, r.Low, r.High, r.Number)
	b = appendSelf(b, link{"dbs", databaseRID(e.database)}, link{"colls", owner}, link{"pkranges", id})
	b = append(b, `,"throughputFraction":`...)
	b = strconv.AppendFloat(b, 1/float64(len(st.Ranges())), 'f', -1, 64)
	b = append(b, `,"status":"online","parents":[`...)
	for i, parent := range r.Parents {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(strconv.AppendUint(append(b, '"'), uint64(parent), 10), '"')
	}
	b = append(b, `],"ownedArchivalPKRangeIds":[]`...)
	b = appendStamp(b, st.Stamp)
	b = strconv.AppendUint(append(b, `,"lsn":`...), max(newest, 1), 10)
	e.reply = append(b, '}')
	return nil
}
