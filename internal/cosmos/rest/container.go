package rest

import (
	"fmt"
	"net/http"
	"strconv"

	"github.com/mayflydb/mayfly/internal/access"
	"github.com/mayflydb/mayfly/internal/catalog"
	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/expiry"
	"github.com/mayflydb/mayfly/internal/fault"
)

func stateVersion(st *catalog.State) access.Version {
	return access.Version{Sequence: st.Sequence, Stamp: st.Stamp}
}

func listContainers(e *exchange) (int, error) {
	return answerFeed(e, databaseRID(e.database), "DocumentCollections", e.api.catalog.Containers(e.database),
		func(c *catalog.Container) uint64 { return uint64(c.ID) },
		func(c *catalog.Container) error { e.appendContainer(c, c.State()); return nil })
}

func createContainer(e *exchange) (int, error) {
	d, err := e.object()
	if err != nil {
		return 0, err
	}
	def, err := define(d)
	if err != nil {
		return 0, err
	}
	if def.Partitions, err = e.partitions(&def); err != nil {
		return 0, err
	}
	throughput, err := e.containerThroughput()
	if err != nil {
		return 0, err
	}
	e.container, err = e.api.catalog.CreateContainer(e.audited(), e.now, e.database, def, throughput.body())
	if err != nil {
		return 0, err
	}
	e.charge(4.95)
	e.definitionHint(def.TTL, d)
	return e.answerContainer(e.container.State(), http.StatusCreated)
}

func readContainer(e *exchange) (int, error) {
	st := e.container.State()
	if err := e.checkConditions(stateVersion(st)); err != nil {
		return 0, err
	}
	if e.flag(hPopulateQuota) {
		if err := e.sendQuota(); err != nil {
			return 0, err
		}
	}
	if status, err := e.answerContainer(st, http.StatusOK); err != nil || !e.flag(hPopulateStatistics) {
		return status, err
	}
	return http.StatusOK, e.appendStatistics()
}

// quota is what a container may hold, with sizes in KB; -1 means no limit.
const quota = "functions=10000;storedProcedures=10000;triggers=10000;documentSize=10240;" +
	"documentsSize=10485760;documentsCount=-1;collectionSize=10485760;"

// sendQuota sends how much of the container's quota is used, and the progress of its indexes. Lazy indexing does not
// exist here, so its progress is never sent: Azure/azure-cosmos-dotnet-v3: HeadersValidationTests.cs.
func (e *exchange) sendQuota() error {
	documents, kb, err := e.usage()
	if err != nil {
		return err
	}
	e.set(outIndexProgress, strconv.Itoa(e.api.store.IndexProgress(e.container)))
	e.set(outQuota, quota)
	e.set(outUsage, fmt.Sprintf("functions=%d;storedProcedures=%d;triggers=%d;documentSize=0;"+
		"documentsSize=%d;documentsCount=%d;collectionSize=%d;",
		e.owned(catalog.Function), e.owned(catalog.Procedure), e.owned(catalog.Trigger), kb, documents, kb))
	return nil
}

func (e *exchange) owned(kind catalog.ResourceKind) int {
	return len(e.api.catalog.Resources(kind, e.containerOwner()))
}

func (e *exchange) containerOwner() catalog.Owner {
	return catalog.Owner{Database: e.database.ID, Container: e.container.ID}
}

func replaceContainer(e *exchange) (int, error) {
	d, err := e.object()
	if err != nil {
		return 0, err
	}
	st, effect, err := e.api.store.ReplaceContainer(e.audited(), e.now, e.container,
		func(st *catalog.State) (catalog.Definition, error) {
			if err := e.checkConditions(stateVersion(st)); err != nil {
				return catalog.Definition{}, err
			}
			return redefine(st, d)
		})
	if err != nil {
		return 0, err
	}
	e.charge(9.9)
	e.definitionHint(st.TTL, d)
	e.sendTTLEffect(effect)
	return e.answerContainer(st, http.StatusOK)
}

func deleteContainer(e *exchange) (int, error) {
	if isMongo(e.container.State()) {
		return 0, errMongoDrop
	}
	if err := e.checkConditions(stateVersion(e.container.State())); err != nil {
		return 0, err
	}
	err := e.api.catalog.DeleteContainer(e.audited(), e.container)
	if fault.KindOf(err) == fault.OwnerNotFound { // another request deleted it first
		return 0, errMissing
	}
	e.charge(4.95)
	return http.StatusNoContent, err
}

func (e *exchange) answerContainer(st *catalog.State, status int) (int, error) {
	e.etag(stateVersion(st))
	e.sendPartitions(st)
	e.appendContainer(e.container, st)
	return status, nil
}

// appendContainer renders the definition and the system properties. The TTL comes from the state and not from Echo,
// because it can change on its own.
func (e *exchange) appendContainer(c *catalog.Container, st *catalog.State) {
	b := appendText(e.reply, "id", st.Name)
	b[len(e.reply)] = '{' // replaces the first comma
	for name, v := range doc.Members(echoOf(st)) {
		b = append(b, ',')
		b = doc.AppendJSONString(b, name)
		b = append(b, ':')
		b = doc.AppendJSONValue(b, v)
		if name == "partitionKey" && st.TTL != expiry.Unset {
			b = append(b, `,"defaultTtl":`...)
			b = strconv.AppendInt(b, int64(st.TTL), 10)
		}
	}
	if st.TTLProperty != "" {
		b = appendText(b, "ttlPropertyPath", st.TTLProperty)
	}
	r := containerRID(c)
	b = appendRID(b, "_rid", r)
	b = appendStamp(b, st.Stamp)
	b = appendSelf(b, link{"dbs", databaseRID(c.Database)}, link{"colls", r})
	b = appendETagMember(b, stateVersion(st))
	e.reply = append(b, `,"_docs":"docs/","_sprocs":"sprocs/","_triggers":"triggers/",`+
		`"_udfs":"udfs/","_conflicts":"conflicts/"}`...)
}
