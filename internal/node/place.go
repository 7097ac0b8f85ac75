package node

import "path/filepath"

// KeyFile is the file in a data folder that holds the account key, if mayfly made one.
func KeyFile(dir string) string { return filepath.Join(dir, keyFile) }

// AuthorityFile is the file in a data folder with the certificate of the authority, if mayfly made one.
func AuthorityFile(dir string) string { return filepath.Join(dir, tlsFolder, authorityName+".pem") }
