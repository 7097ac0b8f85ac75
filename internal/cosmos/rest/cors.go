package rest

import (
	"net/http"
	"slices"
	"strings"

	"github.com/mayflydb/mayfly/internal/fault"
)

// AnyOrigin in Options.Origins allows pages of every origin.
const AnyOrigin = "*"

// A corsPolicy is the policy of Cross-Origin Resource Sharing (fetch.spec.whatwg.org): the web origins whose pages may
// use the API from a browser. If it is nil, no answer has a CORS header.
type corsPolicy struct {
	origins []string
	any     bool
}

func newCORSPolicy(origins []string) *corsPolicy {
	if len(origins) == 0 {
		return nil
	}
	return &corsPolicy{origins: origins, any: slices.Contains(origins, AnyOrigin)}
}

// allows reports whether pages of an origin such as https://app.example may use the API.
func (s *corsPolicy) allows(origin string) bool {
	return s.any || slices.ContainsFunc(s.origins, func(o string) bool { return strings.EqualFold(o, origin) })
}

// sendCORSHeaders sets the headers that tell the browser whether the page may read the answer, and which of its
// headers. It applies to errors too, so that a page can show why it was rejected.
func (e *exchange) sendCORSHeaders(s *corsPolicy) {
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

// preflight reports whether the request is a CORS preflight. Browsers send it without credentials.
func (e *exchange) preflight() bool {
	return e.api.corsPolicy != nil && e.Method == http.MethodOptions && e.given(hOrigin) != "" &&
		e.given(hAskedMethod) != ""
}

// answerPreflight allows every method and all headers that the page asks for.
func answerPreflight(e *exchange) (int, error) {
	if !e.api.corsPolicy.allows(e.given(hOrigin)) {
		return 0, gatewayFault(fault.Forbidden,
			"Pages of the origin '%s' may not use this account. Add it to --nosql-cors.", clip(e.given(hOrigin)))
	}
	e.put(outAllowMethods, valueMethods)
	if asked := e.given(hAskedHeaders); asked != "" {
		e.set(outAllowHeaders, asked)
	}
	e.put(outMaxAge, valueDay)
	return http.StatusNoContent, nil
}

// exposed are the headers that pages may read: all of them, except those about the connection and CORS itself.
var exposed = []answerHeader{
	outActivityID, outAltContentPath, outCharge, outContentLength, outContentPath, outContentType, outContinuation,
	outDuration,
	outETag, outExpiresAt, outGatewayVersion, outHint, outIndexProgress, outIndexUtilization, outInstance,
	outItemCount, outLSN,
	outMaxMediaStorage, outMediaStorage, outMinThroughput, outOfferPending, outQueryMetrics, outQuota, outRangeID,
	outRetryAfter, outSchemaVersion, outScriptLog, outServiceVersion, outSessionToken, outStorageConsumed,
	outStorageProvisioned,
	outStorageReserved, outSubstatus, outTTLEffect, outUsage,
}

// Values of the CORS headers.
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
