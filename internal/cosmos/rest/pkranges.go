package rest

import (
	"net/http"
	"strconv"
	"strings"

	"github.com/mayflydb/mayfly/internal/access"
)

// rangeNumber is the number in the RID of a container's only partition key range.
const rangeNumber = 2

// listRanges answers the feed of partition key ranges, which has one row. SDKs read it as a change feed: with the
// ETag of the previous answer, until they get 304.
func listRanges(e *exchange) (int, error) {
	if err := e.checkFeedMode(); err != nil {
		return 0, err
	}
	etag := `"` + strconv.FormatUint(uint64(e.container.ID), 10) + `"`
	e.set(outETag, etag)
	if strings.TrimPrefix(strings.TrimSpace(e.given(hIfNoneMatch)), "W/") == etag {
		return http.StatusNotModified, nil
	}
	st := e.container.State()
	owner, r := containerRID(e.container), rangeRID.in(e.container, rangeNumber)
	e.openFeed(owner, "PartitionKeyRanges")
	b := append(e.reply, `{"_rid":"`...)
	b = append(r.append(b), `","id":"0"`...)
	b = appendETagMember(b, access.Version{Sequence: uint64(e.container.ID), Stamp: st.Stamp})
	b = append(b, `,"minInclusive":"","maxExclusive":"FF","ridPrefix":0`...)
	b = appendSelf(b, link{"dbs", databaseRID(e.database)}, link{"colls", owner}, link{"pkranges", r})
	b = append(b, `,"throughputFraction":1,"status":"online","parents":[],"ownedArchivalPKRangeIds":[]`...)
	b = appendStamp(b, st.Stamp)
	b = append(b, `,"lsn":`...)
	b = strconv.AppendUint(b, e.newest(), 10)
	e.reply = append(b, '}')
	e.closeFeed(1)
	return http.StatusOK, nil
}
