package storage

// KeepState is for tests that interrupt migrations.
var KeepState = keepState
