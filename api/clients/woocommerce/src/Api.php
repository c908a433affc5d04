<?php

declare(strict_types=1);

namespace Loyalty\WooCommerce;

defined('ABSPATH') || exit;

/** A request that failed: refused by Loyalty with a problem document, or without a usable response. */
final class Problem extends \Exception
{
    /** The business rule that refused; "" if it was another reason. */
    public readonly string $rule;

    /** Without a response, $status is 0. $after has the seconds that Retry-After asks for. */
    public function __construct(
        public readonly int $status,
        string $message,
        public readonly array $document = [],
        public readonly int $after = 0
    ) {
        parent::__construct($message);
        $this->rule = (string) ($document['code'] ?? '');
    }

    /** Reports whether the same request may succeed in a moment. */
    public function isBrief(): bool
    {
        return in_array($this->status, [0, 409, 429], true) || $this->status >= 500;
    }

    /** Reports whether Loyalty has refused for good: a token can be replaced, and a proxy has no document. */
    public function isFinal(): bool
    {
        return $this->document !== [] && !$this->isBrief() && !in_array($this->status, [401, 403], true);
    }
}

/** Sends requests to Loyalty: over https only, to one address, without following redirects. */
final class Api
{
    /** Set while Loyalty can't be reached, so that pages don't wait for it one after the other. */
    public const DOWN = 'loyalty_down';

    /** Seconds of Retry-After that a request waits at most. The queue of orders waits longer. */
    private const LONGEST = 20;

    /** A patient one retries and waits. The other makes one short attempt, for pages that people wait for. */
    public function __construct(
        private readonly string $address,
        #[\SensitiveParameter] private readonly string $token,
        private readonly bool $patient
    ) {
    }

    /** Returns an address as entered without /api/v1; "" if it isn't an https:// address. */
    public static function address(string $entered): string
    {
        $isPlain = preg_match('~^https://[^/\s?#@\\\\]+(/[^\s?#@\\\\]*)?$~iD', $entered) === 1;
        return $isPlain ? (string) preg_replace('~(/api/v1)?/*$~iD', '', $entered) : '';
    }

    /** Reads the data of a record or a list. */
    public function get(string $path): array
    {
        return $this->send('GET', $path, null, '');
    }

    /** Sends JSON, and returns the data of the response. Only finding or adding a customer is safe without a key. */
    public function post(string $path, ?string $body, string $key): array
    {
        return $this->send('POST', $path, $body, $key);
    }

    /** Sends a request, and repeats it while that can help. */
    private function send(string $method, string $path, ?string $body, string $key): array
    {
        if (!$this->patient && get_transient(self::DOWN)) {
            throw new Problem(0, __('Loyalty can’t be reached.'));
        }
        foreach ($this->patient ? [1, 2, 4, 8, null] : [null] as $wait) {
            try {
                return $this->attempt($method, $path, $body, $key);
            } catch (Problem $problem) {
                if ($wait === null || !$problem->isBrief() || $problem->after > self::LONGEST) {
                    break;
                }
            }
            usleep((int) (max($wait, $problem->after) * random_int(1_100_000, 1_200_000)));
        }
        if ($problem->status === 0 || $problem->status >= 500) {
            set_transient(self::DOWN, 1, 30);
        }
        throw $problem;
    }

    /** Sends a request once. */
    private function attempt(string $method, string $path, ?string $body, string $key): array
    {
        $response = wp_remote_request("$this->address/api/v1/$path", [
            'method' => $method,
            'timeout' => $this->patient ? 15 : 5,
            'redirection' => 0,
            'headers' => array_filter([
                'Authorization' => 'Bearer ' . $this->token,
                'Accept' => 'application/json',
                'Prefer' => 'handling=strict',
                'Content-Type' => $body === null ? '' : 'application/json',
                'Idempotency-Key' => $key,
            ]),
            'body' => $body,
        ]);
        if (is_wp_error($response)) {
            throw new Problem(0, __('Loyalty can’t be reached.'));
        }
        $status = (int) wp_remote_retrieve_response_code($response);
        $document = json_decode(wp_remote_retrieve_body($response), true);
        if ($status >= 200 && $status < 300 && is_array($document['data'] ?? null)) {
            delete_transient(self::DOWN);
            return $document['data'];
        }
        if ($status < 400 || !is_string($document['detail'] ?? null)) { // a proxy in between responded
            $message = sprintf(__('The response isn’t Loyalty’s (HTTP status %d). Check the address.'), $status);
            throw new Problem($status, $message, [], self::secondsAsked($response));
        }
        $errors = array_merge(...array_values($document['errors'] ?? []));
        throw new Problem($status, implode(' ', $errors) ?: $document['detail'], $document, self::secondsAsked($response));
    }

    /** Reads Retry-After, which has seconds, or from a proxy a date: by the server's own clock, if it tells. */
    private static function secondsAsked(mixed $response): int
    {
        $header = static fn (string $name): string => trim((string) (((array) wp_remote_retrieve_header($response, $name))[0] ?? ''));
        $after = $header('retry-after');
        $seconds = ctype_digit($after) ? (float) $after : (strtotime($after) ?: 0) - (strtotime($header('date')) ?: time());
        return (int) max(0, min($seconds, 3600));
    }
}
