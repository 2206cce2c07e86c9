package mediatype

import (
	"path"
	"slices"
	"strings"
)

// Kind is files of one kind, by the extensions of their names.
type Kind struct {
	Name       string // of several files
	Extensions []string
}

// Textless are the kinds of files in which no reader of webrace finds text. One of another name may have none as well.
var Textless = []Kind{
	{"pictures", []string{"png", "jpg", "jpeg", "jpe", "gif", "webp", "avif", "bmp", "tif", "tiff", "ico", "cur", "svgz", "psd", "heic"}},
	{"recordings", []string{"mp3", "m4a", "ogg", "oga", "opus", "wav", "flac", "aac", "wma", "mid", "midi"}},
	{"films", []string{"mp4", "m4v", "mpg", "mpeg", "mov", "avi", "mkv", "webm", "ogv", "wmv", "flv", "3gp", "m3u8"}},
	{"fonts", []string{"woff", "woff2", "ttf", "otf", "eot"}},
	{"archives", []string{"zip", "gz", "tgz", "bz2", "tbz2", "xz", "txz", "zst", "lzma", "7z", "rar", "tar", "jar", "war", "ear", "whl", "egg"}},
	{"programs", []string{"exe", "msi", "dll", "so", "dmg", "pkg", "deb", "rpm", "apk", "iso", "img", "bin", "class", "pyc", "wasm", "swf", "inv"}},
}

// TextlessByName returns of which kind without text a file is by the extension of its name; empty if that tells
// nothing.
func TextlessByName(name string) (kind, extension string) {
	extension = strings.ToLower(strings.TrimPrefix(path.Ext(name), "."))
	for _, k := range Textless {
		if slices.Contains(k.Extensions, extension) {
			return k.Name, extension
		}
	}
	return "", ""
}
