// Package conformance runs the official Azure Cosmos DB SDKs against a mayfly
// started as users start it: the binary, over TLS, with the well-known key.
//
// It is a module of its own, so that the SDKs never enter mayfly's. It holds
// tests only: azcosmos's own emulator suite, our suite with azcosmos, stories of
// lifetime on a virtual and on the real clock, and a load test that looks for
// expired documents. The folder js does the same with @azure/cosmos, and the
// folder mongo has the tests of the other API.
//
// The tests know mayfly by its protocol alone; they import none of its packages.
package conformance
