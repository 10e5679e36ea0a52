export type Settings = Readonly<Record<string, string>>

const MIB = 1024 * 1024
const clamp = (value: number, lowest: number, highest: number) => Math.max(lowest, Math.min(value, highest))
const megabytes = (bytes: number) => `${Math.floor(bytes / MIB)}MB`

/**
 * How the embedded server runs when nobody says otherwise: many short transactions that must survive a power cut, on a
 * machine that it shares with the service. Durability is never traded for speed here.
 */
export function embeddedSettings(memoryBytes: number, cores: number): Settings {
  return {
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',

    max_connections: '100',
    shared_buffers: megabytes(clamp(memoryBytes / 8, 32 * MIB, 256 * MIB)),
    effective_cache_size: megabytes(clamp(memoryBytes / 2, 64 * MIB, 64 * 1024 * MIB)),
    maintenance_work_mem: megabytes(clamp(memoryBytes / 32, 16 * MIB, 128 * MIB)),
    huge_pages: 'off',

    // Few and gentle checkpoints: each one makes the next change of every page write the whole page to the log.
    wal_buffers: '16MB',
    min_wal_size: '512MB',
    max_wal_size: '4GB',
    checkpoint_timeout: '15min',
    checkpoint_completion_target: '0.9',

    // Every query here is short and finds its rows by an index, so planning for disks that spin, compiling and
    // parallel scans only cost.
    random_page_cost: '1.1',
    // A plan is kept from the first minute, when every table is small enough to be read whole; a second later it is not.
    enable_seqscan: 'off',
    jit: 'off',
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: cores > 2 ? '2' : '0',

    // Reads are few and short; I/O workers would stand idle as processes of their own.
    io_method: 'sync',
    effective_io_concurrency: '16',

    // Hot rows change all the time: clean often, in small portions, without long pauses.
    autovacuum_max_workers: cores > 2 ? '3' : '2',
    autovacuum_naptime: '3s',
    autovacuum_vacuum_cost_limit: '4000',
    // No plan of ours depends on how many rows there are: tables that only grow are counted and swept when they have
    // grown by half, not by a tenth. That was a tenth of the machine.
    autovacuum_analyze_scale_factor: '0.5',
    default_statistics_target: '20',
    autovacuum_vacuum_insert_scale_factor: '0.5',

    // Nothing replicates; one process less.
    max_logical_replication_workers: '0',

    shared_preload_libraries: 'pg_stat_statements',
    timezone: 'UTC',
    log_timezone: 'UTC',
  }
}

/** The server's name for its socket follows from the port, though no TCP port is opened. */
export const SOCKET_PORT = 5432

/** What the supervisor itself relies on; no caller's setting may change it. */
export function structuralSettings(socketFolder: string): Settings {
  return {
    cluster_name: 'quitado',
    listen_addresses: '',
    port: String(SOCKET_PORT),
    unix_socket_directories: socketFolder,
    unix_socket_permissions: '0700',
    // The supervisor reads the log in English from standard error.
    log_destination: 'stderr',
    logging_collector: 'off',
    log_min_messages: 'warning',
    lc_messages: 'C',
  }
}

export const settingArguments = (settings: Settings): string[] =>
  Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
