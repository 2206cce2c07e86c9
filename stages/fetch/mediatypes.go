package fetch

import (
	"fmt"
	"slices"
	"strings"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/mediatype"
	"github.com/webrace/webrace/internal/scope"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/httpclient"
)

// MediaOptions determine which documents are taken.
type MediaOptions struct {
	MimeTypes []string `toml:"mime_types" doc:"the media types that are taken, of which the first that matches decides: text/*, *+xml; !image/* leaves some out. The start of a crawl is taken whatever it is, and so is a sitemap that is compressed"`
}

// notRead are media types that no stage reads. What is no text but might be a document is taken.
var notRead = []string{
	"!image/*", "!audio/*", "!video/*", "!font/*", "!text/css", "!text/javascript", "!application/javascript", "!application/x-javascript",
	"!application/wasm", "!application/zip", "!application/gzip", "!application/x-gzip", "!application/x-tar", "!application/x-bzip2", "!application/x-xz",
	"!application/zstd", "!application/x-7z-compressed", "!application/vnd.rar", "!application/java-archive", "!application/vnd.debian.binary-package",
	"!application/x-debian-package", "!application/x-rpm", "!application/x-iso9660-image", "!application/vnd.ms-fontobject", "!application/x-shockwave-flash",
}

func (o MediaOptions) validate() error {
	if _, err := scope.ParseMediaTypes(o.MimeTypes); err != nil {
		return &pipeline.OptionError{Option: "mime_types", Err: err}
	}
	return nil
}

// takes returns what decides which answers of a request have their bodies read; nil for all. Who names a
// page as the start of a crawl wants it, whatever it is: a picture can be watched for changes.
func (s *stage) takes(req webrace.Request) func(mediaType string) bool {
	if slices.ContainsFunc(req.Reach, func(r webrace.Reach) bool { return r.Distance == 0 }) || len(req.Reach) == 0 {
		return nil
	}
	return func(mediaType string) bool {
		taken, _ := s.media.Take(mediaType)
		return taken || isCompressedSitemap(req.URL, mediaType)
	}
}

// isCompressedSitemap reports whether an answer can be a sitemap as it is mostly sent. The frontier lets a URL with
// such an extension pass only where a sitemap, or robots.txt, lists it.
func isCompressedSitemap(url, mediaType string) bool {
	return (strings.HasSuffix(url, ".xml.gz") || strings.HasSuffix(url, ".txt.gz")) && (mediaType == "application/gzip" || mediaType == "application/x-gzip")
}

// ignored ends a request whose answer is of a type that is not taken.
func (x *exchange) ignored(a *httpclient.Response) {
	x.count("ignored_types")
	is := mediatype.Of(a.Header.Get("Content-Type"))
	because := "no pattern takes it"
	if _, pattern := x.media.Take(is); pattern != "" {
		because = pattern
	}
	x.end(a, fmt.Sprintf("media type %s is not taken (mime_types: %s)", is, because), (*webrace.Visit).ForgetValidators)
}
