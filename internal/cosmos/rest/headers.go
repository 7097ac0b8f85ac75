package rest

// Names of request and response headers in the form that net/http stores
// them under, so that reading and writing one is a plain map access.
const (
	hActivityID       = "X-Ms-Activity-Id"
	hAltContentPath   = "X-Ms-Alt-Content-Path"
	hAuthorization    = "Authorization"
	hAutopilot        = "X-Ms-Cosmos-Offer-Autopilot-Settings"
	hBatch            = "X-Ms-Cosmos-Is-Batch-Request"
	hBatchAtomic      = "X-Ms-Cosmos-Batch-Atomic"
	hBatchContinue    = "X-Ms-Cosmos-Batch-Continue-On-Error"
	hCharge           = "X-Ms-Request-Charge"
	hConsistency      = "X-Ms-Consistency-Level"
	hContentLength    = "Content-Length"
	hContentPath      = "X-Ms-Content-Path"
	hContentType      = "Content-Type"
	hContinuation     = "X-Ms-Continuation"
	hCrossPartition   = "X-Ms-Documentdb-Query-Enablecrosspartition"
	hDate             = "Date"
	hDuration         = "X-Ms-Request-Duration-Ms"
	hETag             = "Etag"
	hEndEPK           = "X-Ms-End-Epk"
	hExplain          = "X-Mayfly-Explain"
	hExpiresAt        = "X-Mayfly-Expires-At"
	hExpirySeconds    = "X-Ms-Documentdb-Expiry-Seconds"
	hFeed             = "A-Im"
	hForceScan        = "X-Ms-Documentdb-Force-Query-Scan"
	hGatewayVersion   = "X-Ms-Gatewayversion"
	hHint             = "X-Mayfly-Hint"
	hIfMatch          = "If-Match"
	hIfModifiedSince  = "If-Modified-Since"
	hIfNoneMatch      = "If-None-Match"
	hIndexMetrics     = "X-Ms-Cosmos-Populateindexmetrics"
	hIndexMetricsV2   = "X-Ms-Cosmos-Populateindexmetrics-V2"
	hIndexProgress    = "X-Ms-Documentdb-Collection-Index-Transformation-Progress"
	hIndexUtilization = "X-Ms-Cosmos-Index-Utilization"
	hIntendedRID      = "X-Ms-Cosmos-Intended-Collection-Rid"
	hIsQuery          = "X-Ms-Documentdb-Isquery"
	hIsQueryGo        = "X-Ms-Documentdb-Query"
	hIsQueryPlan      = "X-Ms-Cosmos-Is-Query-Plan-Request"
	hItemCount        = "X-Ms-Item-Count"
	hLSN              = "Lsn"
	hLazyProgress     = "X-Ms-Documentdb-Collection-Lazy-Indexing-Progress"
	hMaxItemCount     = "X-Ms-Max-Item-Count"
	hMinThroughput    = "X-Ms-Cosmos-Min-Throughput"
	hOfferPending     = "X-Ms-Offer-Replace-Pending"
	hOfferThroughput  = "X-Ms-Offer-Throughput"
	hPartitionKey     = "X-Ms-Documentdb-Partitionkey"
	hPopulateMetrics  = "X-Ms-Documentdb-Populatequerymetrics"
	hPopulateQuota    = "X-Ms-Documentdb-Populatequotainfo"
	hPrefer           = "Prefer"
	hQuota            = "X-Ms-Resource-Quota"
	hQueryMetrics     = "X-Ms-Documentdb-Query-Metrics"
	hRangeID          = "X-Ms-Documentdb-Partitionkeyrangeid"
	hSchemaVersion    = "X-Ms-Schemaversion"
	hServiceVersion   = "X-Ms-Serviceversion"
	hSessionToken     = "X-Ms-Session-Token"
	hStartEPK         = "X-Ms-Start-Epk"
	hSubstatus        = "X-Ms-Substatus"
	hQueryFeatures    = "X-Ms-Cosmos-Supported-Query-Features"
	hUpsert           = "X-Ms-Documentdb-Is-Upsert"
	hUsage            = "X-Ms-Resource-Usage"
	hXDate            = "X-Ms-Date"
)

// Values of headers that are the same in every answer.
var (
	valueJSON          = []string{"application/json"}
	valueGateway       = []string{"version=2.14.0"}
	valueService       = []string{"version=2.14.0.0"}
	valueSchema        = []string{"1.21"}
	valueRangeID       = []string{"0"}
	valueZero          = []string{"0"}
	valueMinThroughput = []string{"400"}
	valueNotPending    = []string{"false"}
)
