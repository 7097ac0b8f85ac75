package main

import (
	"archive/tar"
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// imageName is what the image is called where it is loaded.
const imageName = "ghcr.io/mayflydb/mayfly"

// nobody is the numeric user and group that mayfly runs as in a container: those of other images
// without root. The name of a user would need a file of users, and Kubernetes cannot tell that it is not root.
const nobody = 65532

// imageProgram is where the binary is in the image.
const imageProgram = "usr/bin/mayfly"

// imageConfig is how the image runs: an emulator, unless its arguments are replaced. An address without a
// host is every address of the container, of IPv6 too.
func (r *release) imageConfig() v1.Config {
	return v1.Config{
		User:       "65532:65532",
		Entrypoint: []string{"/" + imageProgram},
		Cmd:        []string{"serve", "--emulator"},
		Env: []string{
			"PATH=/usr/bin", "MAYFLY_DATA=/data", "MAYFLY_NOSQL=:8081", "MAYFLY_MONGO=:27017", "MAYFLY_ADMIN=:8080",
		},
		ExposedPorts: map[string]struct{}{"8080/tcp": {}, "8081/tcp": {}, "27017/tcp": {}},
		Volumes:      map[string]struct{}{"/data": {}},
		WorkingDir:   "/data",
		StopSignal:   "SIGTERM",
		// Docker's own: OCI has no health check. https://github.com/moby/docker-image-spec/blob/main/spec.md
		Healthcheck: &v1.HealthConfig{
			Test: []string{"CMD", "/" + imageProgram, "health"}, Interval: 10 * time.Second, Timeout: 5 * time.Second,
			StartPeriod: 30 * time.Second, Retries: 3,
		},
		Labels: map[string]string{
			"org.opencontainers.image.title": "mayfly",
			"org.opencontainers.image.description": "A document database that speaks Azure Cosmos DB for NoSQL and " +
				"MongoDB, with exact time-to-live",
			"org.opencontainers.image.source":   "https://github.com/mayflydb/mayfly",
			"org.opencontainers.image.licenses": "Apache-2.0",
			"org.opencontainers.image.version":  r.version,
			"org.opencontainers.image.revision": r.commit,
			"org.opencontainers.image.created":  r.date.Format(time.RFC3339),
		},
	}
}

// imageLayer is the one layer of the image. A volume takes owner and mode of the folder that it
// is mounted on when it is new: /data must be there, and mayfly's.
func (r *release) imageLayer(p platform) (v1.Layer, error) {
	var packed bytes.Buffer
	archive := tar.NewWriter(&packed)
	add := func(header tar.Header, content []byte) error {
		header.Size, header.ModTime, header.Format = int64(len(content)), r.date, tar.FormatUSTAR
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		_, err := archive.Write(content)
		return err
	}
	binary, err := os.ReadFile(r.binary(p))
	if err != nil {
		return nil, err
	}
	license, err := os.ReadFile(filepath.Join(r.root, "LICENSE"))
	if err != nil {
		return nil, err
	}
	for _, f := range []struct {
		header  tar.Header
		content []byte
	}{
		{tar.Header{Typeflag: tar.TypeDir, Name: "data/", Mode: 0o750, Uid: nobody, Gid: nobody}, nil},
		{tar.Header{Typeflag: tar.TypeDir, Name: "usr/", Mode: 0o755}, nil},
		{tar.Header{Typeflag: tar.TypeDir, Name: "usr/bin/", Mode: 0o755}, nil},
		{tar.Header{Typeflag: tar.TypeReg, Name: imageProgram, Mode: 0o755}, binary},
		{tar.Header{Typeflag: tar.TypeDir, Name: "usr/share/", Mode: 0o755}, nil},
		{tar.Header{Typeflag: tar.TypeDir, Name: "usr/share/doc/", Mode: 0o755}, nil},
		{tar.Header{Typeflag: tar.TypeDir, Name: "usr/share/doc/mayfly/", Mode: 0o755}, nil},
		{tar.Header{Typeflag: tar.TypeReg, Name: "usr/share/doc/mayfly/LICENSE", Mode: 0o644}, license},
	} {
		if err := add(f.header, f.content); err != nil {
			return nil, err
		}
	}
	if err := archive.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

func (r *release) image(p platform) (v1.Image, error) {
	layer, err := r.imageLayer(p)
	if err != nil {
		return nil, err
	}
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	image, err := mutate.Append(base, mutate.Addendum{
		Layer: layer, History: v1.History{Created: v1.Time{Time: r.date}, CreatedBy: "mayfly " + r.version},
	})
	if err != nil {
		return nil, err
	}
	config, err := image.ConfigFile()
	if err != nil {
		return nil, err
	}
	config = config.DeepCopy()
	config.OS, config.Architecture = p.system, p.arch
	config.Created, config.Config = v1.Time{Time: r.date}, r.imageConfig()
	return mutate.ConfigFile(image, config)
}

// writeImage writes the images of all Linux platforms into one archive, in a form that each program
// that loads images reads: an OCI layout, whose index podman, skopeo, crane and the containerd store of
// Docker read, with a manifest.json beside it for Docker's older store. That store has no image of several
// platforms: there the first platform has the tag, and every platform has a tag of its own.
func (r *release) writeImage(context.Context) error {
	dir := filepath.Join(r.work, "image")
	index, archives := mutate.IndexMediaType(empty.Index, types.OCIImageIndex), tarball.Manifest{}
	for _, p := range r.platforms {
		if p.system != "linux" {
			continue
		}
		image, err := r.image(p)
		if err != nil {
			return err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{
			Add: image, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: p.system, Architecture: p.arch}},
		})
		manifest, err := image.Manifest()
		if err != nil {
			return err
		}
		archive := tarball.Descriptor{Config: blob(manifest.Config.Digest),
			Layers: []string{blob(manifest.Layers[0].Digest)}}
		if len(archives) == 0 {
			archive.RepoTags = append(archive.RepoTags, imageName+":"+r.version)
		}
		archive.RepoTags = append(archive.RepoTags, imageName+":"+r.version+"-"+p.arch)
		archives = append(archives, archive)
	}
	if len(archives) == 0 {
		return nil
	}
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	err = path.AppendIndex(index, layout.WithAnnotations(map[string]string{
		"org.opencontainers.image.ref.name": imageName + ":" + r.version, // for podman
		"io.containerd.image.name":          imageName + ":" + r.version, // for containerd
	}))
	if err != nil {
		return err
	}
	text, err := json.Marshal(archives)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600); err != nil {
		return err
	}
	return writeFile(filepath.Join(r.out, "mayfly_"+r.version+"_image.tar"), func(w io.Writer) error {
		return writeTar(w, dir, r.date)
	})
}

// blob is where a layout keeps content.
func blob(digest v1.Hash) string { return path.Join("blobs", digest.Algorithm, digest.Hex) }

// writeTar archives the files of a folder.
func writeTar(w io.Writer, dir string, date time.Time) error {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return err
	}
	slices.Sort(names)
	archive := tar.NewWriter(w)
	for _, name := range names {
		content, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		below, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		header := tar.Header{Name: filepath.ToSlash(below), Mode: 0o644, Size: int64(len(content)), ModTime: date,
			Format: tar.FormatUSTAR}
		if err := archive.WriteHeader(&header); err != nil {
			return err
		}
		if _, err := archive.Write(content); err != nil {
			return err
		}
	}
	return archive.Close()
}
