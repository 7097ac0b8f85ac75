package load

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

// Key is the account key of the load's processes: the emulator's.
const Key = "C2y6yDjf5/R+ob0N8A7Cgv30VRDJIWEHLM+4QDU5DE2nQ9nDuVTqobD4b8mGGyPMbIZnqyMsEcaGQy67XIw/Jw=="

// nosql is the API for NoSQL through azcosmos.
type nosql struct {
	name      string
	container *azcosmos.ContainerClient
}

// everything is the whole container's feed range.
var everything = azcosmos.FeedRange{MinInclusive: "", MaxExclusive: "FF"}

// NoSQL connects to an address, host:port, and makes the container if it is
// not there.
func NoSQL(ctx context.Context, name, address string) (API, error) {
	transport, err := trusting(ctx, address)
	if err != nil {
		return nil, err
	}
	key, err := azcosmos.NewKeyCredential(Key)
	if err != nil {
		return nil, err
	}
	var options azcosmos.ClientOptions
	options.Transport = transport
	options.Retry.MaxRetries = -1 // a failure shows
	client, err := azcosmos.NewClientWithKey("https://"+address, key, &options)
	if err != nil {
		return nil, err
	}
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: "load"}, nil)
	if err != nil && !answered(err, http.StatusConflict) {
		return nil, err
	}
	db, err := client.NewDatabase("load")
	if err != nil {
		return nil, err
	}
	never := int32(-1) // items have a life of their own, or none
	_, err = db.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: "documents", DefaultTimeToLive: &never,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/writer"}},
	}, nil)
	if err != nil && !answered(err, http.StatusConflict) {
		return nil, err
	}
	container, err := db.NewContainer("documents")
	return &nosql{name: name, container: container}, err
}

// trusting is a client that believes in the authority of the mayfly at address.
func trusting(ctx context.Context, address string) (*http.Client, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/_mayfly/ca.pem", nil)
	if err != nil {
		return nil, err
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	pem, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("no certificate at http://%s/_mayfly/ca.pem: %s", address, resp.Status)
	}
	return &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{RootCAs: pool}, MaxIdleConnsPerHost: 16,
	}}, nil
}

func answered(err error, status int) bool {
	r := (*azcore.ResponseError)(nil)
	return errors.As(err, &r) && r.StatusCode == status
}

// An item is a document as the API for NoSQL has it.
type item struct {
	ID      string `json:"id"`
	Writer  string `json:"writer"`
	N       int    `json:"n"`
	Seconds int    `json:"ttl,omitempty"`
	Stamp   int64  `json:"_ts,omitempty"`
	ETag    string `json:"_etag,omitempty"`
	Now     int64  `json:"now,omitempty"` // milliseconds, of the query
}

func (n *nosql) Name() string { return n.name }

func (n *nosql) Insert(ctx context.Context, d Document) error {
	body, err := json.Marshal(item{ID: d.ID(), Writer: d.Writer, N: d.N, Seconds: int(d.Life / time.Second)})
	if err != nil {
		return err
	}
	_, err = n.container.CreateItem(ctx, azcosmos.NewPartitionKeyString(d.Writer), body, nil)
	if answered(err, http.StatusConflict) {
		return ErrThere
	}
	return err
}

func (n *nosql) Stay(ctx context.Context, writer string) (ids []string, err error) {
	pager := n.container.NewQueryItemsPager("SELECT c.id FROM c", azcosmos.NewPartitionKeyString(writer), nil)
	for pager.More() {
		page, err := pager.NextPage(ctx)
		if err != nil {
			return nil, err
		}
		for _, text := range page.Items {
			var i item
			if err := json.Unmarshal(text, &i); err != nil {
				return nil, err
			}
			ids = append(ids, i.ID)
		}
	}
	return ids, nil
}

// Mortal asks for the time within the query: each page is of one moment.
func (n *nosql) Mortal(ctx context.Context) (now time.Time, shown []Shown, err error) {
	const query = "SELECT c.id, c._ts, c.ttl, GetCurrentTimestamp() AS now FROM c WHERE IS_DEFINED(c.ttl)"
	size := azcosmos.QueryOptions{PageSizeHint: -1}
	page, err := n.container.NewQueryItemsPager(query, azcosmos.NewPartitionKey(), &size).NextPage(ctx)
	if err != nil {
		return now, nil, err
	}
	for _, text := range page.Items {
		var i item
		if err := json.Unmarshal(text, &i); err != nil {
			return now, nil, err
		}
		now = time.UnixMilli(i.Now)
		shown = append(shown, Shown{ID: i.ID, End: time.Unix(i.Stamp+int64(i.Seconds), 0)})
	}
	return now, shown, nil
}

func (n *nosql) Changes(ctx context.Context, after string) (inserted []Document, next string, err error) {
	o := azcosmos.ChangeFeedOptions{FeedRange: &everything, MaxItemCount: 100}
	if after != "" {
		o = azcosmos.ChangeFeedOptions{Continuation: &after, MaxItemCount: 100}
	}
	page, err := n.container.ReadChangeFeed(ctx, &o)
	if err != nil {
		return nil, "", err
	}
	for _, text := range page.Items {
		var i item
		if err := json.Unmarshal(text, &i); err != nil {
			return nil, "", err
		}
		inserted = append(inserted, Document{
			Writer: i.Writer, N: i.N, Life: time.Duration(i.Seconds) * time.Second, Version: i.ETag,
		})
	}
	return inserted, page.ContinuationToken, nil
}
