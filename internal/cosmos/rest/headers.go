package rest

// A requestHeader is the name of a request header in the canonical form of net/http, so that reading it is a plain
// map access.
type requestHeader string

// Headers that clients send.
const (
	hActivityID      requestHeader = "X-Ms-Activity-Id"
	hAskedHeaders    requestHeader = "Access-Control-Request-Headers"
	hAskedMethod     requestHeader = "Access-Control-Request-Method"
	hAuthorization   requestHeader = "Authorization"
	hAutopilot       requestHeader = "X-Ms-Cosmos-Offer-Autopilot-Settings"
	hBatch           requestHeader = "X-Ms-Cosmos-Is-Batch-Request"
	hBatchAtomic     requestHeader = "X-Ms-Cosmos-Batch-Atomic"
	hBatchContinue   requestHeader = "X-Ms-Cosmos-Batch-Continue-On-Error"
	hConsistency     requestHeader = "X-Ms-Consistency-Level"
	hContentType     requestHeader = "Content-Type"
	hContinuation    requestHeader = "X-Ms-Continuation"
	hCrossPartition  requestHeader = "X-Ms-Documentdb-Query-Enablecrosspartition"
	hDate            requestHeader = "Date"
	hEndEPK          requestHeader = "X-Ms-End-Epk"
	hExplain         requestHeader = "X-Mayfly-Explain"
	hExpirySeconds   requestHeader = "X-Ms-Documentdb-Expiry-Seconds"
	hFeed            requestHeader = "A-Im"
	hForceScan       requestHeader = "X-Ms-Documentdb-Force-Query-Scan"
	hIfMatch         requestHeader = "If-Match"
	hIfModifiedSince requestHeader = "If-Modified-Since"
	hIfNoneMatch     requestHeader = "If-None-Match"
	hIndexMetrics    requestHeader = "X-Ms-Cosmos-Populateindexmetrics"
	hIndexMetricsV2  requestHeader = "X-Ms-Cosmos-Populateindexmetrics-V2"
	hIntendedRID     requestHeader = "X-Ms-Cosmos-Intended-Collection-Rid"
	hIsQuery         requestHeader = "X-Ms-Documentdb-Isquery"
	hIsQueryGo       requestHeader = "X-Ms-Documentdb-Query"
	hIsQueryPlan     requestHeader = "X-Ms-Cosmos-Is-Query-Plan-Request"
	hMaxItemCount    requestHeader = "X-Ms-Max-Item-Count"
	hOfferThroughput requestHeader = "X-Ms-Offer-Throughput"
	hOrigin          requestHeader = "Origin"
	hPartitionKey    requestHeader = "X-Ms-Documentdb-Partitionkey"
	hPopulateMetrics requestHeader = "X-Ms-Documentdb-Populatequerymetrics"
	hPopulateQuota   requestHeader = "X-Ms-Documentdb-Populatequotainfo"
	hPostTrigger     requestHeader = "X-Ms-Documentdb-Post-Trigger-Include"
	hPreTrigger      requestHeader = "X-Ms-Documentdb-Pre-Trigger-Include"
	hPrefer          requestHeader = "Prefer"
	hQueryFeatures   requestHeader = "X-Ms-Cosmos-Supported-Query-Features"
	hRangeID         requestHeader = "X-Ms-Documentdb-Partitionkeyrangeid"
	hScriptLogging   requestHeader = "X-Ms-Documentdb-Script-Enable-Logging"
	hStartEPK        requestHeader = "X-Ms-Start-Epk"
	hUpsert          requestHeader = "X-Ms-Documentdb-Is-Upsert"
	hUserAgent       requestHeader = "User-Agent"
	hXDate           requestHeader = "X-Ms-Date"
)

// An answerHeader is the name of a header in an answer, spelled as the service sends it: some clients look names up
// in a case-sensitive dictionary. It goes into the header map unchanged, so http.Header's Get, Set and Del do not
// find it; use the methods of exchange.
type answerHeader string

// Headers of answers. Those that net/http reads itself must be in canonical form, which is also the service's form.
const (
	outActivityID         answerHeader = "x-ms-activity-id"
	outAllowHeaders       answerHeader = "Access-Control-Allow-Headers"
	outAllowMethods       answerHeader = "Access-Control-Allow-Methods"
	outAllowOrigin        answerHeader = "Access-Control-Allow-Origin"
	outAltContentPath     answerHeader = "x-ms-alt-content-path"
	outCharge             answerHeader = "x-ms-request-charge"
	outConnection         answerHeader = "Connection"
	outContentLength      answerHeader = "Content-Length"
	outContentPath        answerHeader = "x-ms-content-path"
	outContentType        answerHeader = "Content-Type"
	outContinuation       answerHeader = "x-ms-continuation"
	outDuration           answerHeader = "x-ms-request-duration-ms"
	outETag               answerHeader = "etag"
	outExpiresAt          answerHeader = "x-mayfly-expires-at"
	outExposeHeaders      answerHeader = "Access-Control-Expose-Headers"
	outGatewayVersion     answerHeader = "x-ms-gatewayversion"
	outHint               answerHeader = "x-mayfly-hint"
	outIndexProgress      answerHeader = "x-ms-documentdb-collection-index-transformation-progress"
	outIndexUtilization   answerHeader = "x-ms-cosmos-index-utilization"
	outInstance           answerHeader = "x-mayfly-instance"
	outItemCount          answerHeader = "x-ms-item-count"
	outLSN                answerHeader = "lsn"
	outMaxAge             answerHeader = "Access-Control-Max-Age"
	outMaxMediaStorage    answerHeader = "x-ms-max-media-storage-usage-mb"
	outMediaStorage       answerHeader = "x-ms-media-storage-usage-mb"
	outMinThroughput      answerHeader = "x-ms-cosmos-min-throughput"
	outOfferPending       answerHeader = "x-ms-offer-replace-pending"
	outQueryMetrics       answerHeader = "x-ms-documentdb-query-metrics"
	outQuota              answerHeader = "x-ms-resource-quota"
	outRangeID            answerHeader = "x-ms-documentdb-partitionkeyrangeid"
	outRetryAfter         answerHeader = "x-ms-retry-after-ms"
	outSchemaVersion      answerHeader = "x-ms-schemaversion"
	outScriptLog          answerHeader = "x-ms-documentdb-script-log-results"
	outServiceVersion     answerHeader = "x-ms-serviceversion"
	outSessionToken       answerHeader = "x-ms-session-token"
	outStorageConsumed    answerHeader = "x-ms-databaseaccount-consumed-mb"
	outStorageProvisioned answerHeader = "x-ms-databaseaccount-provisioned-mb"
	outStorageReserved    answerHeader = "x-ms-databaseaccount-reserved-mb"
	outSubstatus          answerHeader = "x-ms-substatus"
	outTTLEffect          answerHeader = "x-mayfly-ttl-effect"
	outUsage              answerHeader = "x-ms-resource-usage"
	outVary               answerHeader = "Vary"
)

// Header values that are the same in every answer.
var (
	valueJSON          = []string{"application/json"}
	valueGateway       = []string{"version=2.14.0"}
	valueService       = []string{"version=2.14.0.0"}
	valueSchema        = []string{"1.21"}
	valueRangeID       = []string{"0"}
	valueZero          = []string{"0"}
	valueMinThroughput = []string{"400"}
	valueNotPending    = []string{"false"}
	valueClose         = []string{"close"}
)

// given is the first value of a request header, or "" if it is absent.
func (e *exchange) given(name requestHeader) string {
	if v := e.Header[string(name)]; len(v) > 0 {
		return v[0]
	}
	return ""
}

// set sets a header of the answer.
func (e *exchange) set(name answerHeader, value string) { e.put(name, []string{value}) }

// put is set for a prepared value, which must not be modified afterwards.
func (e *exchange) put(name answerHeader, values []string) { e.header[string(name)] = values }

// unset removes a header of the answer.
func (e *exchange) unset(name answerHeader) { delete(e.header, string(name)) }
