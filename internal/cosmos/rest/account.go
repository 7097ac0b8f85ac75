package rest

import (
	"net"
	"net/http"
	"net/netip"
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
)

// queryEngine is the configuration of the query engine that SDKs read: JSON within a JSON string.
const queryEngine = `{"maxSqlQueryInputLength":524288,"maxJoinsPerSqlQuery":10,"maxLogicalAndPerSqlQuery":2000,` +
	`"maxLogicalOrPerSqlQuery":2000,"maxUdfRefPerSqlQuery":10,"maxInExpressionItemsCount":16000,` +
	`"queryMaxGroupByTableCellCount":500000,"queryMaxInMemorySortDocumentCount":500,` +
	`"maxQueryRequestTimeoutFraction":0.9,` +
	`"sqlAllowNonFiniteNumbers":false,"sqlAllowAggregateFunctions":true,"sqlAllowSubQuery":true,` +
	`"sqlAllowScalarSubQuery":true,` +
	`"allowNewKeywords":true,"sqlAllowLike":true,"sqlAllowGroupByClause":true,"sqlAllowTop":true,` +
	`"enableSpatialIndexing":true,` +
	`"maxSpatialQueryCells":12,"spatialMaxGeometryPointCount":256,` +
	`"sqlDisableQueryILOptimization":false,"sqlDisableFilterPlanOptimization":false}`

// readAccount answers the first request of every SDK, which asks where to send the others.
func readAccount(e *exchange) (int, error) {
	for _, name := range []answerHeader{outMaxMediaStorage, outMediaStorage, outStorageConsumed,
		outStorageProvisioned, outStorageReserved} {
		e.put(name, valueZero)
	}
	e.set(outInstance, e.api.instance)
	e.reply = append(e.reply, `{"_self":"","id":`...)
	e.reply = doc.AppendJSONString(e.reply, accountName(e.Host))
	e.reply = append(e.reply, `,"_rid":`...)
	e.reply = doc.AppendJSONString(e.reply, e.Host)
	e.reply = append(e.reply, `,"media":"//media/","addresses":"//addresses/","_dbs":"//dbs/","writableLocations":[`...)
	e.appendLocation()
	e.reply = append(e.reply, `],"readableLocations":[`...)
	e.appendLocation()
	e.reply = append(e.reply,
		`],"enableMultipleWriteLocations":false,"continuousBackupEnabled":false,`+
			`"enableNRegionSynchronousCommit":false,`+
			`"enablePerPartitionFailoverBehavior":false,"disableCrossRegionalHedging":false,`+
			`"userReplicationPolicy":{"asyncReplication":false,"minReplicaSetSize":1,"maxReplicasetSize":4},`+
			`"userConsistencyPolicy":{"defaultConsistencyLevel":`...)
	e.reply = doc.AppendJSONString(e.reply, e.api.consistency)
	e.reply = append(e.reply, `},"systemReplicationPolicy":{"minReplicaSetSize":1,"maxReplicasetSize":4},`+
		`"readPolicy":{"primaryReadCoefficient":1,"secondaryReadCoefficient":1},"queryEngineConfiguration":`...)
	e.reply = doc.AppendJSONString(e.reply, queryEngine)
	e.reply = append(e.reply, '}')
	return http.StatusOK, nil
}

func (e *exchange) appendLocation() {
	e.reply = append(e.reply, `{"name":`...)
	e.reply = doc.AppendJSONString(e.reply, e.api.region)
	e.reply = append(e.reply, `,"databaseAccountEndpoint":`...)
	e.reply = doc.AppendJSONString(e.reply, e.endpoint())
	e.reply = append(e.reply, '}')
}

// endpoint is the URL that clients should use: the configured one, or else the one that this client used.
func (e *exchange) endpoint() string { return e.api.endpointOf(e.Request) }

func (a *API) endpointOf(r *http.Request) string {
	switch {
	case a.advertise != "":
		return a.advertise
	case r.TLS != nil:
		return "https://" + r.Host + "/"
	}
	return "http://" + r.Host + "/"
}

// accountName is the first label of the host name, or "mayfly" if the host is an IP address.
func accountName(host string) string {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	name = strings.Trim(name, "[]")
	if _, err := netip.ParseAddr(name); err == nil {
		return "mayfly"
	}
	if name, _, _ = strings.Cut(name, "."); name == "" {
		return "mayfly"
	}
	return name
}
