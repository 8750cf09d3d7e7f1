// SPDX-License-Identifier: GPL-2.0-only
/*
 * A shared object for LD_PRELOAD that spoils one call on the files of a results folder, see
 * tests/e2e/store_test.py:
 *
 *   FAILING_STORE_FOLDER  absolute path; calls on what is below it count
 *   FAILING_STORE_STATE   file with the state of this shim, shared by all processes of a test
 *   FAILING_STORE_CALL    which one, such as `write:7`; none: only count
 *   FAILING_STORE_HOW     what happens there: a number (the errno), `short` (half of the bytes are
 *                         read, or are written and then the disk is full), `die` (the process is
 * killed), `cut` (the power goes: every process is killed, and what nobody has synced is lost)
 *   FAILING_STORE_DELAY   microseconds that each call takes longer, at most
 *
 * Syncing itself does nothing here but take note: it is the shim that loses what was not synced.
 */
#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <map>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace
{

enum Kind : uint32_t
{
    CREATE,
    OPEN,
    READ,
    WRITE,
    SYNC,
    CLOSE,
    RENAME,
    LINK,
    MKDIR,
    REMOVE,
    LIST,
    KINDS
};

constexpr std::array<const char*, KINDS> NAMES{"create",
                                               "open",
                                               "read",
                                               "write",
                                               "sync",
                                               "close",
                                               "rename",
                                               "link",
                                               "mkdir",
                                               "remove",
                                               "list"};

constexpr size_t MAX_NOTES = 1 << 14;
constexpr size_t MAX_PATH = 512;

/// Something that is lost with the power unless it is synced.
struct Note
{
    enum What : uint32_t
    {
        WRITTEN,
        SYNCED, //!< a file or a folder
        RENAMED
    };

    What what;
    ino_t inode;         //!< of the file, or of the folder into which it was renamed
    char from[MAX_PATH]; //!< of a renamed one
    char to[MAX_PATH];
    char replaced[MAX_PATH]; //!< another name of the file that was there; empty: there was none
};

/// Starts as zeros; the test reads the counts.
struct State
{
    std::array<std::atomic<uint64_t>, KINDS> counts;
    std::atomic<uint64_t> spoiled;
    std::atomic<uint64_t> noteCount;
    Note notes[MAX_NOTES];
};

template <class Function>
Function*
Next(const char* name)
{
    return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

/// The next function of the same name and type as the one it is used in.
#define NEXT(name) Next<decltype(name)>(#name)

class Shim
{
  public:
    static Shim& Get()
    {
        static Shim shim;
        return shim;
    }

    /// Whether a path is below the folder; relative ones are not.
    bool Covers(std::string_view path) const
    {
        return m_state && path.starts_with(m_folder) &&
               (path.size() == m_folder.size() || path[m_folder.size()] == '/');
    }

    bool Covers(int file) const
    {
        return m_state && Covers(NameOf(file));
    }

    static std::string NameOf(int file)
    {
        std::array<char, PATH_MAX> name{};
        const auto link = "/proc/self/fd/" + std::to_string(file);
        const auto size = readlink(link.c_str(), name.data(), name.size());
        return {name.data(), static_cast<size_t>(std::max<ssize_t>(size, 0))};
    }

    /// The same with a path that may be relative to an open folder.
    static std::string NameOf(int folder, const char* path)
    {
        return path[0] == '/' || folder == AT_FDCWD ? std::string(path)
                                                    : NameOf(folder) + "/" + path;
    }

    /**
     * Counts a call that is covered.
     * \returns true when it is to be spoiled by returning an error, which is in errno then
     */
    bool Fails(Kind kind)
    {
        const auto number = ++m_state->counts[kind];
        if (m_delay > 0)
        {
            usleep(static_cast<useconds_t>(random() % m_delay));
        }
        if (m_isFull && kind == WRITE)
        {
            errno = ENOSPC;
            return true;
        }
        if (kind != m_kind || number != m_number)
        {
            return false;
        }
        m_state->spoiled = 1;
        if (m_how == "die")
        {
            raise(SIGKILL);
        }
        if (m_how == "cut")
        {
            CutPower();
        }
        if (m_how == "short")
        {
            m_isShort = true;
            m_isFull = kind == WRITE;
            return false;
        }
        errno = std::atoi(m_how.c_str());
        return true;
    }

    /// How many bytes a call moves that does not fail.
    size_t Shorten(size_t bytes)
    {
        return std::exchange(m_isShort, false) && bytes > 1 ? bytes / 2 : bytes;
    }

    void NoteWritten(int file)
    {
        AddNote(Note::WRITTEN, file);
    }

    void NoteSynced(int file)
    {
        AddNote(Note::SYNCED, file);
    }

    /// Before it happens, as its target is gone afterwards.
    void NoteRename(const char* from, const char* to)
    {
        Note& note = Take();
        std::snprintf(note.from, MAX_PATH, "%s", from);
        std::snprintf(note.to, MAX_PATH, "%s", to);
        const std::string folder(to, std::string_view(to).rfind('/'));
        struct stat status;
        note.inode = stat(folder.c_str(), &status) == 0 ? status.st_ino : 0;
        const auto kept = m_statePath + "." + std::to_string(&note - m_state->notes);
        if (lstat(to, &status) == 0 && S_ISREG(status.st_mode) && NEXT(link)(to, kept.c_str()) == 0)
        {
            std::snprintf(note.replaced, MAX_PATH, "%s", kept.c_str());
        }
        note.what = Note::RENAMED;
    }

  private:
    Shim()
    {
        const char* folder = std::getenv("FAILING_STORE_FOLDER");
        const char* state = std::getenv("FAILING_STORE_STATE");
        if (!folder || !state)
        {
            return;
        }
        m_folder = folder;
        m_statePath = state;
        const std::string call = GetVariable("FAILING_STORE_CALL");
        const auto colon = call.find(':');
        for (uint32_t kind = 0; kind < KINDS; ++kind)
        {
            m_kind = call.substr(0, colon) == NAMES[kind] ? kind : m_kind;
        }
        m_number = m_kind < KINDS ? std::strtoull(call.c_str() + colon + 1, nullptr, 10) : 0;
        m_how = GetVariable("FAILING_STORE_HOW");
        m_delay = std::atol(GetVariable("FAILING_STORE_DELAY").c_str());
        srandom(static_cast<unsigned>(getpid()));
        const int file = NEXT(open)(state, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (file < 0 || ftruncate(file, sizeof(State)) != 0)
        {
            std::perror(state);
            std::abort();
        }
        void* memory = mmap(nullptr, sizeof(State), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        NEXT(close)(file);
        m_state = memory == MAP_FAILED ? nullptr : static_cast<State*>(memory);
    }

    static std::string GetVariable(const char* name)
    {
        const char* value = std::getenv(name);
        return value ? value : "";
    }

    Note& Take()
    {
        const auto number = m_state->noteCount++;
        if (number >= MAX_NOTES)
        {
            std::fputs("failing-store: too many calls\n", stderr);
            std::abort();
        }
        return m_state->notes[number];
    }

    void AddNote(Note::What what, int file)
    {
        struct stat status;
        if (fstat(file, &status) == 0)
        {
            Note& note = Take();
            note.inode = status.st_ino;
            note.what = what;
        }
    }

    /// 'R', 'T' and so on, as in proc(5); 'X' for a process that is gone.
    static char StateOf(const char* process)
    {
        FILE* file = NEXT(fopen)((std::string("/proc/") + process + "/stat").c_str(), "r");
        char state = 'X';
        if (file && std::fscanf(file, "%*d (%*[^)]) %c", &state) != 1)
        {
            state = 'X';
        }
        if (file)
        {
            NEXT(fclose)(file);
        }
        return state;
    }

    /// Stops one of the group; whether it does nothing any more.
    static bool IsStill(const char* process)
    {
        const pid_t id = std::atoi(process);
        if (id <= 0 || id == getpid() || getpgid(id) != getpgrp())
        {
            return true;
        }
        kill(id, SIGSTOP);
        return std::strchr("TtZXx", StateOf(process)) != nullptr;
    }

    /**
     * The power goes for all processes of the group at once: one that went on while this one takes
     * back what is lost would see, and could keep, what no disk ever had.
     */
    static void StopOthers()
    {
        // Twice without a moving one: a process that was forked meanwhile comes with the next look.
        for (int still = 0; still < 2;)
        {
            ++still;
            DIR* processes = NEXT(opendir)("/proc");
            while (const dirent* entry = processes ? NEXT(readdir)(processes) : nullptr)
            {
                still = IsStill(entry->d_name) ? still : 0;
            }
            if (processes)
            {
                closedir(processes);
            }
        }
    }

    /// Takes back what has not been synced, and ends all processes of the group.
    [[noreturn]] void CutPower()
    {
        m_folder = "/none";
        StopOthers();
        std::map<ino_t, bool> isWritten;
        std::vector<const Note*> renames;
        const auto count = std::min<uint64_t>(m_state->noteCount, MAX_NOTES);
        for (const Note* note = m_state->notes; note != m_state->notes + count; ++note)
        {
            if (note->what == Note::RENAMED)
            {
                renames.push_back(note);
                continue;
            }
            isWritten[note->inode] = note->what == Note::WRITTEN;
            if (note->what == Note::SYNCED)
            {
                std::erase_if(renames,
                              [note](const Note* rename) { return rename->inode == note->inode; });
            }
        }
        while (!renames.empty())
        {
            const Note& last = *renames.back();
            NEXT(rename)(last.to, last.from);
            if (last.replaced[0] != '\0')
            {
                NEXT(rename)(last.replaced, last.to);
            }
            renames.pop_back();
        }
        Spoil(GetVariable("FAILING_STORE_FOLDER"), isWritten);
        kill(0, SIGKILL);
        _exit(1);
    }

    /// Cuts in half what was written and not synced.
    static void Spoil(const std::string& folder, const std::map<ino_t, bool>& isWritten)
    {
        DIR* entries = NEXT(opendir)(folder.c_str());
        while (const dirent* entry = entries ? NEXT(readdir)(entries) : nullptr)
        {
            const std::string path = folder + "/" + entry->d_name;
            const auto written = isWritten.find(entry->d_ino);
            struct stat status;
            if (entry->d_type == DT_DIR && std::strspn(entry->d_name, ".") < path.size() &&
                std::string_view(entry->d_name) != "." && std::string_view(entry->d_name) != "..")
            {
                Spoil(path, isWritten);
            }
            else if (written != isWritten.end() && written->second &&
                     stat(path.c_str(), &status) == 0 && truncate(path.c_str(), status.st_size / 2))
            {
                std::perror(path.c_str());
            }
        }
        if (entries)
        {
            closedir(entries);
        }
    }

    std::string m_folder;
    std::string m_statePath;
    State* m_state{nullptr};
    uint32_t m_kind{KINDS};
    uint64_t m_number{0};
    std::string m_how;
    long m_delay{0};
    bool m_isShort{false}; //!< the call that is under way
    bool m_isFull{false};  //!< the disk
};

bool
FailsAt(int folder, const char* path, Kind kind)
{
    auto& shim = Shim::Get();
    return shim.Covers(Shim::NameOf(folder, path)) && shim.Fails(kind);
}

bool
FailsAt(int file, Kind kind)
{
    auto& shim = Shim::Get();
    return shim.Covers(file) && shim.Fails(kind);
}

Kind
KindOf(int flags)
{
    return (flags & O_DIRECTORY) != 0                     ? LIST
           : (flags & (O_CREAT | O_WRONLY | O_RDWR)) != 0 ? CREATE
                                                          : OPEN;
}

mode_t
TakeMode(int flags, va_list arguments)
{
    return (flags & O_CREAT) != 0 ? va_arg(arguments, mode_t) : 0;
}

} // namespace

// The names and types of the C library.
extern "C"
{
#define OPENS(name)                                                                                \
    int name(const char* path, int flags, ...)                                                     \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const auto mode = TakeMode(flags, arguments);                                              \
        va_end(arguments);                                                                         \
        return FailsAt(AT_FDCWD, path, KindOf(flags)) ? -1 : NEXT(name)(path, flags, mode);        \
    }

#define OPENS_AT(name)                                                                             \
    int name(int folder, const char* path, int flags, ...)                                         \
    {                                                                                              \
        va_list arguments;                                                                         \
        va_start(arguments, flags);                                                                \
        const auto mode = TakeMode(flags, arguments);                                              \
        va_end(arguments);                                                                         \
        return FailsAt(folder, path, KindOf(flags)) ? -1 : NEXT(name)(folder, path, flags, mode);  \
    }

#define OPENS_STREAM(name)                                                                         \
    FILE* name(const char* path, const char* mode)                                                 \
    {                                                                                              \
        const auto kind = std::strpbrk(mode, "wa+") ? CREATE : OPEN;                               \
        return FailsAt(AT_FDCWD, path, kind) ? nullptr : NEXT(name)(path, mode);                   \
    }

    OPENS(open)
    OPENS(open64)
    OPENS_AT(openat)
    OPENS_AT(openat64)
    OPENS_STREAM(fopen)
    OPENS_STREAM(fopen64)

    ssize_t read(int file, void* buffer, size_t bytes)
    {
        auto& shim = Shim::Get();
        if (!shim.Covers(file))
        {
            return NEXT(read)(file, buffer, bytes);
        }
        return shim.Fails(READ) ? -1 : NEXT(read)(file, buffer, shim.Shorten(bytes));
    }

    ssize_t write(int file, const void* buffer, size_t bytes)
    {
        auto& shim = Shim::Get();
        if (!shim.Covers(file))
        {
            return NEXT(write)(file, buffer, bytes);
        }
        if (shim.Fails(WRITE))
        {
            return -1;
        }
        shim.NoteWritten(file);
        return NEXT(write)(file, buffer, shim.Shorten(bytes));
    }

    ssize_t writev(int file, const iovec* parts, int count)
    {
        auto& shim = Shim::Get();
        if (!shim.Covers(file))
        {
            return NEXT(writev)(file, parts, count);
        }
        if (shim.Fails(WRITE))
        {
            return -1;
        }
        shim.NoteWritten(file);
        std::string bytes;
        for (const iovec* part = parts; part != parts + count; ++part)
        {
            bytes.append(static_cast<const char*>(part->iov_base), part->iov_len);
        }
        return NEXT(write)(file, bytes.data(), shim.Shorten(bytes.size()));
    }

    int fsync(int file)
    {
        auto& shim = Shim::Get();
        if (!shim.Covers(file))
        {
            return NEXT(fsync)(file);
        }
        if (shim.Fails(SYNC))
        {
            return -1;
        }
        shim.NoteSynced(file);
        return 0;
    }

    int close(int file)
    {
        const bool fails = FailsAt(file, CLOSE);
        const int error = errno;
        const int code = NEXT(close)(file);
        errno = fails ? error : errno;
        return fails ? -1 : code;
    }

    int fclose(FILE* stream)
    {
        const bool fails = FailsAt(fileno(stream), CLOSE);
        const int error = errno;
        const int code = NEXT(fclose)(stream);
        errno = fails ? error : errno;
        return fails ? EOF : code;
    }

    int rename(const char* from, const char* to)
    {
        auto& shim = Shim::Get();
        if (!shim.Covers(std::string_view(to)))
        {
            return NEXT(rename)(from, to);
        }
        if (shim.Fails(RENAME))
        {
            return -1;
        }
        shim.NoteRename(from, to);
        return NEXT(rename)(from, to);
    }

    int link(const char* from, const char* to)
    {
        return FailsAt(AT_FDCWD, to, LINK) ? -1 : NEXT(link)(from, to);
    }

    int mkdir(const char* path, mode_t mode)
    {
        return FailsAt(AT_FDCWD, path, MKDIR) ? -1 : NEXT(mkdir)(path, mode);
    }

    int remove(const char* path)
    {
        return FailsAt(AT_FDCWD, path, REMOVE) ? -1 : NEXT(remove)(path);
    }

    int unlink(const char* path)
    {
        return FailsAt(AT_FDCWD, path, REMOVE) ? -1 : NEXT(unlink)(path);
    }

    int rmdir(const char* path)
    {
        return FailsAt(AT_FDCWD, path, REMOVE) ? -1 : NEXT(rmdir)(path);
    }

    int unlinkat(int folder, const char* path, int flags)
    {
        return FailsAt(folder, path, REMOVE) ? -1 : NEXT(unlinkat)(folder, path, flags);
    }

    DIR* opendir(const char* path)
    {
        return FailsAt(AT_FDCWD, path, LIST) ? nullptr : NEXT(opendir)(path);
    }

    dirent* readdir(DIR* folder)
    {
        return FailsAt(dirfd(folder), LIST) ? nullptr : NEXT(readdir)(folder);
    }
}
