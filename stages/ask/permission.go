package ask

import (
	"context"
	"errors"

	"github.com/webrace/webrace"
	"github.com/webrace/webrace/internal/credentials"
	"github.com/webrace/webrace/pipeline"
	"github.com/webrace/webrace/stages/internal/modeluse"
)

// secrets are those that documents were fetched with.
type secrets struct{ open credentials.Open }

func newSecrets(env *pipeline.Env) secrets {
	open, err := pipeline.Resource[credentials.Open](env)
	if err != nil {
		return secrets{} // none lets anything be shown
	}
	return secrets{open}
}

// shows returns an [unjudgedError] if the secret of a name does not let what was fetched with it be shown to a model.
func (s secrets) shows(ctx context.Context, name string) error {
	if name == "" {
		return nil
	}
	if s.open == nil {
		return unjudged("secret", "it was fetched with secret %s, of which nothing is known here", name)
	}
	source, err := s.open()
	if err != nil {
		return err
	}
	secret, err := source.Secret(ctx, name)
	switch {
	case errors.Is(err, credentials.ErrNotFound):
		return unjudged("secret", "it was fetched with secret %s, which is not stored any more", name)
	case err != nil:
		return unjudged("secret", "it was fetched with secret %s, which cannot be read", name)
	case !secret.Bounds().Models:
		return unjudged("secret", "it was fetched with secret %s, which lets no model be shown what it gives (webrace-store secret set %[1]s --models …)", name)
	}
	return nil
}

// forbiddenOf returns the statement of a document by which no model may be given it; empty for none.
func (s *stage) forbiddenOf(d *webrace.Document) (string, error) {
	header, body := d.Header, d.Body
	if s.objects != nil {
		var err error
		if header, body, err = s.objects.AsStored(d); err != nil {
			return "", err
		}
	}
	return modeluse.Forbidden(d.URL, header, body, d.MediaType), nil
}
