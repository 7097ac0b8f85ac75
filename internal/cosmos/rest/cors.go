package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// AnyOrigin among Options.Origins lets the pages of every origin in.
const AnyOrigin = "*"

// A sharing says which web pages may use the API from a browser (Cross-Origin Resource Sharing,
// fetch.spec.whatwg.org). nil: none, and no answer says anything about it.
type sharing struct {
	origins []string
	any     bool
}

func newSharing(origins []string) *sharing {
	if len(origins) == 0 {
		return nil
	}
	return &sharing{origins: origins, any: slices.Contains(origins, AnyOrigin)}
}

// allows reports whether pages of origin, such as https://app.example, may use the API.
func (s *sharing) allows(origin string) bool {
	return s.any || slices.ContainsFunc(s.origins, func(o string) bool { return strings.EqualFold(o, origin) })
}

// shareOrigins tells the browser whether the page that sends the request may read the answer, and which
// headers of it. Errors are told too, so that a page sees why it is refused.
func (e *exchange) shareOrigins(s *sharing) {
	e.put(outVary, valueOrigin)
	origin := e.given(hOrigin)
	switch {
	case origin == "" || !s.allows(origin):
		return
	case s.any:
		e.put(outAllowOrigin, valueAnyOrigin)
	default:
		e.set(outAllowOrigin, origin)
	}
	e.put(outExposeHeaders, valueExposed)
}

// preflight reports whether the request is a browser's question whether another one may be
// sent. It has no credentials: browsers send none with it.
func (e *exchange) preflight() bool {
	return e.door.sharing != nil && e.Method == http.MethodOptions && e.given(hOrigin) != "" && e.given(hAskedMethod) != ""
}

// answerPreflight allows every verb and whatever headers the page wants to send.
func answerPreflight(e *exchange) (int, error) {
	if !e.door.sharing.allows(e.given(hOrigin)) {
		return 0, refused(fault.Forbidden, "Pages of the origin '%s' may not use this account. Add it to --nosql-cors.", clip(e.given(hOrigin)))
	}
	e.put(outAllowMethods, valueMethods)
	if asked := e.given(hAskedHeaders); asked != "" {
		e.set(outAllowHeaders, asked)
	}
	e.put(outMaxAge, valueDay)
	return http.StatusNoContent, nil
}

// exposed are the headers that pages may read: all that answers have, except those
// that are about the connection or the sharing itself.
var exposed = []answerHeader{
	outActivityID, outAltContentPath, outCharge, outContentLength, outContentPath, outContentType, outContinuation, outDuration,
	outETag, outExpiresAt, outGatewayVersion, outHint, outIndexProgress, outIndexUtilization, outItemCount, outLSN,
	outMaxMediaStorage, outMediaStorage, outMinThroughput, outOfferPending, outQueryMetrics, outQuota, outRangeID,
	outRetryAfter, outSchemaVersion, outScriptLog, outServiceVersion, outSessionToken, outStorageConsumed, outStorageProvisioned,
	outStorageReserved, outSubstatus, outTTLEffect, outUsage,
}

// Values of the headers of sharing.
var (
	valueAnyOrigin = []string{AnyOrigin}
	valueOrigin    = []string{"Origin"}
	valueMethods   = []string{"GET, POST, PUT, PATCH, DELETE"}
	valueDay       = []string{"86400"}
	valueExposed   = []string{joinHeaders(exposed)}
)

func joinHeaders(names []answerHeader) string {
	var b strings.Builder
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(string(name))
	}
	return b.String()
}
