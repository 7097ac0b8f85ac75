package command

import (
	"strings"

	"github.com/mayflydb/mayfly/internal/doc"
	"github.com/mayflydb/mayfly/internal/mongo/call"
	"github.com/mayflydb/mayfly/internal/mongo/code"
)

// clientInfo is what a client says about itself in its first hello.
type clientInfo struct {
	document doc.Doc // nil until then
	appName  string
}

// Limits of what a client says about itself.
// https://github.com/mongodb/specifications/blob/master/source/mongodb-handshake/handshake.md
const (
	maxClientBytes  = 512
	maxAppNameBytes = 128
)

// introduce keeps what the client says about itself, which it may do once.
func (c *connection) introduce(d doc.Doc) error {
	name, _ := doc.AsString(doc.Lookup(call.Member(d, "application"), "name"))
	switch {
	case c.client.document != nil:
		return code.New(code.ClientMetadataCannotBeMutated,
			"The client metadata document may only be sent in the first hello")
	case len(d) > maxClientBytes:
		return code.New(code.ClientMetadataDocumentTooLarge,
			"The client metadata document must be less than or equal to %d bytes", maxClientBytes)
	case len(name) > maxAppNameBytes:
		return code.New(code.ClientMetadataAppNameTooLarge,
			"The 'client.application.name' field must be less than or equal to %d bytes", maxAppNameBytes)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.client = clientInfo{document: append(doc.Doc(nil), d...), appName: strings.Clone(name)}
	return nil
}
