package bench

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strconv"

	"github.com/Azure/azure-sdk-for-go/sdk/azcore"
	"github.com/Azure/azure-sdk-for-go/sdk/data/azcosmos"
)

type nosqlTarget struct {
	container *azcosmos.ContainerClient
}

// OpenNoSQL makes a container with TTL in a database, which it makes if it is not there. authority is a certificate in
// PEM that is trusted in addition to those of the system; nil adds none.
func OpenNoSQL(ctx context.Context, url, key string, authority []byte, db, container string) (Target, error) {
	credential, err := azcosmos.NewKeyCredential(key)
	if err != nil {
		return nil, err
	}
	o := &azcosmos.ClientOptions{}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.MaxIdleConnsPerHost = maxConnections
	transport.TLSClientConfig = trusting(authority)
	o.Transport = &http.Client{Transport: transport}
	client, err := azcosmos.NewClientWithKey(url, credential, o)
	if err != nil {
		return nil, err
	}
	_, err = client.CreateDatabase(ctx, azcosmos.DatabaseProperties{ID: db}, nil)
	if err != nil && status(err) != http.StatusConflict {
		return nil, err
	}
	database, err := client.NewDatabase(db)
	if err != nil {
		return nil, err
	}
	never := int32(-1)
	_, err = database.CreateContainer(ctx, azcosmos.ContainerProperties{
		ID: container, DefaultTimeToLive: &never,
		PartitionKeyDefinition: azcosmos.PartitionKeyDefinition{Paths: []string{"/id"}},
	}, nil)
	if err != nil {
		return nil, err
	}
	c, err := database.NewContainer(container)
	return &nosqlTarget{c}, err
}

// status is the HTTP status of an error, 0 for others.
func status(err error) int {
	if answer, ok := errors.AsType[*azcore.ResponseError](err); ok {
		return answer.StatusCode
	}
	if answer, ok := errors.AsType[*refusal](err); ok {
		return answer.status
	}
	return 0
}

func (t *nosqlTarget) Create(ctx context.Context, d Document, ttl int) error {
	body, err := json.Marshal(struct {
		Document
		TTL int `json:"ttl,omitempty"`
	}{d, ttl})
	if err != nil {
		return err
	}
	_, err = t.container.CreateItem(ctx, azcosmos.NewPartitionKeyString(d.ID), body, nil)
	return err
}

func (t *nosqlTarget) Read(ctx context.Context, id string) error {
	_, err := t.container.ReadItem(ctx, azcosmos.NewPartitionKeyString(id), id, nil)
	if status(err) == http.StatusNotFound {
		return ErrGone
	}
	return err
}

func (t *nosqlTarget) Update(ctx context.Context, d Document) error {
	body, err := json.Marshal(d)
	if err != nil {
		return err
	}
	_, err = t.container.ReplaceItem(ctx, azcosmos.NewPartitionKeyString(d.ID), d.ID, body, nil)
	return err
}

func (t *nosqlTarget) Query(ctx context.Context, group int) error {
	pages := t.container.NewQueryItemsPager("SELECT TOP 10 * FROM c WHERE c.group = @group", azcosmos.NewPartitionKey(),
		&azcosmos.QueryOptions{QueryParameters: []azcosmos.QueryParameter{{Name: "@group", Value: group}}})
	for pages.More() {
		if _, err := pages.NextPage(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Kind is the status of an error of the server.
func (t *nosqlTarget) Kind(err error) string { return nosqlKind(err) }

func nosqlKind(err error) string {
	if code := status(err); code != 0 {
		return strconv.Itoa(code)
	}
	return commonKind(err)
}

func (t *nosqlTarget) Close(ctx context.Context) error {
	_, err := t.container.Delete(ctx, nil)
	return err
}
