package admin

import (
	"embed"
	"io/fs"
	"net/http"
	"path"
	"strings"
)

// The parts of the OpenAPI document. A feature has a file in paths, and one in schemas if it has schemas of its own.
//
//go:embed openapi
var documentParts embed.FS

// document puts the parts of the OpenAPI document together.
func document() []byte {
	var text strings.Builder
	text.Write(part("head.yaml"))
	text.WriteString("paths:\n")
	appendParts(&text, "paths")
	text.WriteString("components:\n")
	text.Write(part("components.yaml"))
	text.WriteString("  schemas:\n")
	appendParts(&text, "schemas")
	return []byte(text.String())
}

func appendParts(text *strings.Builder, folder string) {
	files, err := fs.ReadDir(documentParts, path.Join("openapi", folder))
	if err != nil {
		panic(err) // it is embedded
	}
	for _, f := range files {
		text.Write(part(path.Join(folder, f.Name())))
	}
}

func part(name string) []byte {
	text, err := documentParts.ReadFile(path.Join("openapi", name))
	if err != nil {
		panic(err) // it is embedded
	}
	return text
}

func (a *admin) showOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "application/yaml")
	w.Header().Set("Cache-Control", "no-store")
	_, _ = w.Write(document()) // an error means that the client has gone
	return nil
}
