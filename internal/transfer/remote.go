package transfer

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// A Sender sends a request to the admin API of a running mayfly, and returns an answer that is a success; the caller
// closes its body. Path begins with /.
type Sender func(ctx context.Context, method, path, contentType string, body io.Reader) (*http.Response, error)

// A Remote is a container of a running mayfly.
type Remote struct {
	Send                Sender
	Database, Container string
}

var (
	_ Target = (*Remote)(nil)
	_ Origin = (*Remote)(nil)
)

// maxAnswer bounds an answer that is no stream.
const maxAnswer = 64 << 20

const databasesPath = "/_mayfly/v1/databases"

// escape makes one step of a path of a name.
func escape(name string) string { return strings.ReplaceAll(url.PathEscape(name), ".", "%2E") }

// path is that of the container, or of a part of it.
func (r *Remote) path(part string, query url.Values) string {
	p := databasesPath + "/" + escape(r.Database) + "/containers/" + escape(r.Container) + part
	if len(query) > 0 {
		p += "?" + query.Encode()
	}
	return p
}

// call sends a request and decodes its answer.
func call(ctx context.Context, send Sender, method, path, contentType string, body []byte, answer any) error {
	response, err := send(ctx, method, path, contentType, bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer response.Body.Close()
	err = json.NewDecoder(io.LimitReader(response.Body, maxAnswer)).Decode(answer)
	if err != nil {
		return fmt.Errorf("the answer to %s %s cannot be read: %w", method, path, cut(err))
	}
	return nil
}

// Import sends lines.
func (r *Remote) Import(ctx context.Context, lines []byte, way Way) (done Outcome, err error) {
	query := url.Values{"stamps": {string(way.Stamps)}, "onConflict": {string(way.OnConflict)}}
	if way.Resent {
		query.Set("resent", "yes")
	}
	err = call(ctx, r.Send, http.MethodPost, r.path("/import", query), "application/x-ndjson", lines, &done)
	return done, err
}

// Export receives the lines of the container.
func (r *Remote) Export(ctx context.Context, after string) (io.ReadCloser, error) {
	query := url.Values{}
	if after != "" {
		query.Set("after", after)
	}
	response, err := r.Send(ctx, http.MethodGet, r.path("/export", query), "", nil)
	if err != nil {
		return nil, err
	}
	return response.Body, nil
}

// Definition asks for the definition of the container.
func (r *Remote) Definition(ctx context.Context) (d Definition, err error) {
	err = call(ctx, r.Send, http.MethodGet, r.path("", nil), "", nil, &d)
	return d, err
}

// Create makes the container, and its database if there is none. exists tells the errors of what is there already.
// created is false if the container was.
func (r *Remote) Create(ctx context.Context, d Definition, exists func(error) bool) (created bool, err error) {
	text, err := json.Marshal(d)
	if err != nil {
		return false, err
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(text, &members); err != nil {
		return false, err
	}
	switch err := r.CreateAs(ctx, members, exists); {
	case err == nil:
		return true, nil
	case exists(err):
		return false, nil
	default:
		return false, err
	}
}

// CreateAs makes the container by the members of a definition, and its database if there is none.
func (r *Remote) CreateAs(
	ctx context.Context, definition map[string]json.RawMessage, exists func(error) bool,
) error {
	definition = maps.Clone(definition)
	if definition == nil {
		definition = map[string]json.RawMessage{}
	}
	id, err := json.Marshal(r.Container)
	if err != nil {
		return err
	}
	definition["id"] = id
	if err := r.post(ctx, databasesPath, map[string]string{"id": r.Database}); err != nil && !exists(err) {
		return err
	}
	return r.post(ctx, databasesPath+"/"+escape(r.Database)+"/containers", definition)
}

func (r *Remote) post(ctx context.Context, path string, body any) error {
	text, err := json.Marshal(body)
	if err != nil {
		return err
	}
	var answer json.RawMessage
	return call(ctx, r.Send, http.MethodPost, path, "application/json", text, &answer)
}
