// Package program has what the peers of both versions of A2A need: keys, servers and lines of JSON.
package program

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"golang.org/x/oauth2/clientcredentials"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

// Key is the key that a server asks for, or that a client sends.
var Key = os.Getenv("PEER_KEY")

// Tokens is the server whose tokens an agent wants, if any.
var Tokens = os.Getenv("PEER_TOKENS")

// Guard lets requests with the key, or with a token of the server, through.
func Guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, request *http.Request) {
		wrong := Key != "" && request.Header.Get("x-api-key") != Key
		if wrong || Tokens != "" && !isActive(request.Header.Get("Authorization")) {
			http.Error(answer, "a key is missing", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(answer, request)
	})
}

// isActive asks the server of tokens for the token of a header (RFC 7662).
func isActive(header string) bool {
	form := url.Values{"token": {strings.TrimPrefix(header, "Bearer ")}}
	answer, err := http.PostForm(strings.Replace(Tokens, "/token", "/introspect", 1), form)
	if err != nil {
		return false
	}
	defer answer.Body.Close()
	var known struct{ Active bool }
	return json.NewDecoder(answer.Body).Decode(&known) == nil && known.Active
}

// GrpcServer is a server that lets calls with the key through.
func GrpcServer() *grpc.Server {
	unary := func(ctx context.Context, req any, _ *grpc.UnaryServerInfo, next grpc.UnaryHandler) (any, error) {
		if err := checkKey(ctx); err != nil {
			return nil, err
		}
		return next(ctx, req)
	}
	stream := func(srv any, stream grpc.ServerStream, _ *grpc.StreamServerInfo, next grpc.StreamHandler) error {
		if err := checkKey(stream.Context()); err != nil {
			return err
		}
		return next(srv, stream)
	}
	return grpc.NewServer(grpc.UnaryInterceptor(unary), grpc.StreamInterceptor(stream))
}

func checkKey(ctx context.Context) error {
	given, _ := metadata.FromIncomingContext(ctx)
	if keys := given.Get("x-api-key"); Key != "" && (len(keys) == 0 || keys[0] != Key) {
		return status.Error(codes.Unauthenticated, "a key is missing")
	}
	return nil
}

// Serve serves the handlers of the process at a port until it ends, over TLS where there is a certificate.
func Serve(port string) error {
	if cert := os.Getenv("PEER_TLS_CERT"); cert != "" {
		return http.ListenAndServeTLS("127.0.0.1:"+port, cert, os.Getenv("PEER_TLS_KEY"), nil)
	}
	return http.ListenAndServe("127.0.0.1:"+port, nil)
}

type keyed struct{ next http.RoundTripper }

func (it keyed) RoundTrip(request *http.Request) (*http.Response, error) {
	if Key != "" {
		request = request.Clone(request.Context())
		request.Header.Set("x-api-key", Key)
	}
	return it.next.RoundTrip(request)
}

// HttpClient sends the key, or a token that it gets by the client credentials grant.
func HttpClient() *http.Client {
	if at := os.Getenv("PEER_TOKEN_URL"); at != "" {
		client := clientcredentials.Config{
			ClientID:     os.Getenv("PEER_CLIENT_ID"),
			ClientSecret: os.Getenv("PEER_CLIENT_SECRET"),
			TokenURL:     at,
		}
		return client.Client(context.Background())
	}
	return &http.Client{Transport: keyed{http.DefaultTransport}}
}

// DialOptions connect to this machine, where the service finds the agent by the host of the card.
func DialOptions(port string) []grpc.DialOption {
	return []grpc.DialOption{
		grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", "127.0.0.1:"+port)
		}),
		grpc.WithUnaryInterceptor(func(ctx context.Context, method string, req, reply any, conn *grpc.ClientConn,
			next grpc.UnaryInvoker, options ...grpc.CallOption) error {
			return next(withKey(ctx), method, req, reply, conn, options...)
		}),
		grpc.WithStreamInterceptor(func(ctx context.Context, desc *grpc.StreamDesc, conn *grpc.ClientConn, method string,
			next grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
			return next(withKey(ctx), desc, conn, method, options...)
		}),
	}
}

func withKey(ctx context.Context) context.Context {
	if Key == "" {
		return ctx
	}
	return metadata.AppendToOutgoingContext(ctx, "x-api-key", Key)
}

// WaitFor returns when the file exists, at once without a path.
func WaitFor(ctx context.Context, path string) {
	for path != "" && ctx.Err() == nil {
		if _, err := os.Stat(path); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Print writes a line of JSON.
func Print(event any) {
	line, err := json.Marshal(event)
	if err != nil {
		panic(err)
	}
	fmt.Println(string(line))
}

// PrintError writes an error as a line of JSON.
func PrintError(err error) {
	Print(map[string]any{"error": err.Error()})
}
