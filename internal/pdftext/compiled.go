package pdftext

import (
	"os"
	"path/filepath"

	"github.com/tetratelabs/wazero"
)

// cacheDirectory returns where the user's processes keep the machine code that PDFium is compiled to, so that only the
// first one spends seconds on it. What lies there is run, so the directory must be the user's own, and writable by no
// other. It returns "" where there is none.
func cacheDirectory() string {
	user, err := os.UserCacheDir()
	if err != nil {
		return ""
	}
	dir := filepath.Join(user, "webrace")
	if os.MkdirAll(dir, 0o700) != nil {
		return ""
	}
	if info, err := os.Lstat(dir); err != nil || !info.IsDir() || !ownedAlone(info) {
		return ""
	}
	return dir
}

// withCache has machine code read from a directory if it is there, and else written to it; "" keeps none.
func withCache(config wazero.RuntimeConfig, dir string) wazero.RuntimeConfig {
	if dir == "" {
		return config
	}
	cache, err := wazero.NewCompilationCacheWithDir(dir)
	if err != nil {
		return config
	}
	return config.WithCompilationCache(cache)
}
